// SPDX-License-Identifier: BSD-3-Clause
// The primary context and the stack of current contexts.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gpu.hpp"

#include <thread>

namespace peercoll::conformance::cuda {

namespace {

int primary_is_active(CUdevice device) {
    unsigned flags = 0;
    int active = -1;
    need("cuDevicePrimaryCtxGetState", driver().cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}

void without_a_context(Scene& scene) {
    need_devices(scene, 1);
    CUcontext context = reinterpret_cast<CUcontext>(16);
    scene.expect("current context: code", success, driver().cuCtxGetCurrent(&context));
    scene.expect("there is one", false, context != nullptr);
    scene.expect("pop", invalid_context, driver().cuCtxPopCurrent(&context));
    CUdevice device = -1;
    scene.expect("current device", invalid_context, driver().cuCtxGetDevice(&device));
    scene.expect("synchronise", invalid_context, driver().cuCtxSynchronize());
    CUdeviceptr address = 0;
    scene.expect("allocate", invalid_context, driver().cuMemAlloc(&address, MiB));
    void* host = nullptr;
    scene.expect("allocate host memory", invalid_context, driver().cuMemHostAlloc(&host, MiB, 0));
    CUstream stream = nullptr;
    scene.expect("make a stream", invalid_context, driver().cuStreamCreate(&stream, stream_non_blocking));
    CUevent event = nullptr;
    scene.expect("make an event", invalid_context, driver().cuEventCreate(&event, event_disable_timing));
    CUipcMemHandle handle{};
    scene.expect("open a handle", invalid_context, driver().cuIpcOpenMemHandle(&address, handle, 1));
}

void primary_context_is_counted(Scene& scene) {
    need_devices(scene, 1);
    scene.expect("active before use", 0, primary_is_active(0));
    CUcontext first = nullptr;
    CUcontext second = nullptr;
    scene.expect("retain", success, driver().cuDevicePrimaryCtxRetain(&first, 0));
    scene.expect("active once retained", 1, primary_is_active(0));
    scene.expect("retain again", success, driver().cuDevicePrimaryCtxRetain(&second, 0));
    scene.expect("the same context", true, first == second);
    CUcontext current = nullptr;
    need("cuCtxGetCurrent", driver().cuCtxGetCurrent(&current));
    scene.expect("retaining makes it current", false, current != nullptr);
    scene.expect("release", success, driver().cuDevicePrimaryCtxRelease(0));
    scene.expect("active with one left", 1, primary_is_active(0));
    scene.expect("release the last", success, driver().cuDevicePrimaryCtxRelease(0));
    scene.expect("active after the last", 0, primary_is_active(0));
    scene.expect("release once too often", invalid_context, driver().cuDevicePrimaryCtxRelease(0));
}

void stack_nests(Scene& scene) {
    const Gpu gpu(scene);
    CUcontext current = nullptr;
    scene.expect("push", success, driver().cuCtxPushCurrent(gpu.context()));
    scene.expect("pop", success, driver().cuCtxPopCurrent(&current));
    scene.expect("what was popped is what was pushed", true, current == gpu.context());
    need("cuCtxGetCurrent", driver().cuCtxGetCurrent(&current));
    scene.expect("the one below is current again", true, current == gpu.context());
    CUdevice device = -1;
    scene.expect("its device: code", success, driver().cuCtxGetDevice(&device));
    scene.expect("its device", gpu.device(), device);
}

void threads_have_their_own_stack(Scene& scene) {
    const Gpu gpu(scene);
    CUcontext current = gpu.context();
    CUresult allocated = success;
    std::thread([&] {
        driver().cuCtxGetCurrent(&current);
        CUdeviceptr address = 0;
        allocated = driver().cuMemAlloc(&address, MiB);
    }).join();
    scene.expect("a new thread has a current context", false, current != nullptr);
    scene.expect("a new thread allocates", invalid_context, allocated);
}

void queries_without_a_context(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(MiB);
    CUcontext popped = nullptr;
    need("cuCtxPopCurrent", driver().cuCtxPopCurrent(&popped));
    unsigned type = 0;
    scene.expect("memory type", success,
                 driver().cuPointerGetAttribute(&type, attribute_memory_type, memory.address()));
    scene.expect("memory type: device", 2u, type);
    std::uint64_t id = 0;
    scene.expect("buffer id", success, driver().cuPointerGetAttribute(&id, attribute_buffer_id, memory.address()));
    int attribute = attribute_memory_type;
    void* value = &type;
    scene.expect("plural query", success, driver().cuPointerGetAttributes(1, &attribute, &value, memory.address()));
    CUipcMemHandle handle{};
    scene.expect("name for other processes", invalid_context, driver().cuIpcGetMemHandle(&handle, memory.address()));
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    scene.observe("address range", driver().cuMemGetAddressRange(&base, &bytes, memory.address()));
    const int one = 1;
    scene.observe("set SYNC_MEMOPS", driver().cuPointerSetAttribute(&one, attribute_sync_memops, memory.address()));
    need("cuCtxPushCurrent", driver().cuCtxPushCurrent(gpu.context()));
}

}  // namespace

void add_contexts(Suite& suite) {
    suite.enter("contexts");
    suite.add("without a current context, calls are refused", without_a_context);
    suite.add("the primary context is counted", primary_context_is_counted);
    suite.add("current contexts are a stack", stack_nests);
    suite.add("every thread has its own current context", threads_have_their_own_stack);
    suite.add("pointer queries need no current context", queries_without_a_context);
}

}  // namespace peercoll::conformance::cuda
