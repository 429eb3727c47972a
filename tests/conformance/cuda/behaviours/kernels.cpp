// SPDX-License-Identifier: BSD-3-Clause
// Kernels: loading, launching, flags in host memory, and errors that stay.
#include "tests/conformance/cuda/kernels.hpp"

#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/registered_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::uint64_t many_looks = 4'000'000;

void loading(Scene& scene) {
    const Gpu gpu(scene);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    scene.expect("load", success, driver().cuModuleLoadData(&module, kernel_image));
    scene.expect("a kernel by name", success,
                 driver().cuModuleGetFunction(&function, module, "peercoll_conformance_store"));
    scene.expect("a name that is not there", not_found,
                 driver().cuModuleGetFunction(&function, module, "peercoll_conformance_nothing"));
    scene.expect("unload", success, driver().cuModuleUnload(module));
    const std::vector<char> zeros(64 * KiB);
    scene.expect("load zeros", invalid_image, driver().cuModuleLoadData(&module, zeros.data()));
}

void stores_then_flag(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Memory memory(MiB);
    const Stream stream;
    scene.expect("launch", success,
                 kernels.store(stream, {memory.address() + 8, 500, 1000, registered.device_address(4), 42}));
    scene.expect("a processor sees the flag without any further call", true, host.wait_for(42, 4));
    scene.expect("synchronise", success, stream.synchronize());
    scene.expect("what was stored", true, load(memory.address() + 8, 1000) == words_from(500, 1000));
}

void stores_into_host_memory(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.store(stream, {registered.device_address(16), 7000, 4096, registered.device_address(), 1}));
    scene.expect("the flag comes", true, host.wait_for(1));
    const std::vector<std::uint64_t> words = words_from(7000, 4096);
    scene.expect("behind what was stored", true,
                 std::equal(words.begin(), words.end(), static_cast<const std::uint64_t*>(host.address()) + 16));
    need("cuStreamSynchronize", stream.synchronize());
}

void running_kernel_sees_the_host(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.wait(stream, {registered.device_address(), 9, many_looks, registered.device_address(8)}));
    scene.expect("done before the host's store", false, host.word(8).load() == 1);
    host.word().store(9);
    scene.expect("the kernel saw it", true, host.wait_for(1, 8));
    scene.expect("synchronise", success, stream.synchronize());
}

void bounded_wait(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.wait(stream, {registered.device_address(), 9, 50, registered.device_address(8)}));
    scene.expect("a wait for what nobody writes gives up", true, host.wait_for(2, 8));
    scene.expect("synchronise", success, stream.synchronize());
}

void arguments_are_copied(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const Memory memory(MiB);
    const Stream stream;
    for (std::uint64_t i = 0; i < 50; ++i)
        need("launch", kernels.store(stream, {memory.address() + 8 * i, 3 * i, 1, 0, 0}));
    need("cuStreamSynchronize", stream.synchronize());
    std::vector<std::uint64_t> expected(50);
    for (std::uint64_t i = 0; i < 50; ++i) expected[i] = 3 * i;
    scene.expect("each launch had its own", true, load(memory.address(), 50) == expected);
}

void spoils_the_context(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const Memory memory(MiB);
    const Stream stream;
    scene.expect("launch", success, kernels.store(stream, {16, 1, 1, 0, 0}));
    scene.expect("synchronise", illegal_address, stream.synchronize());
    scene.expect("it stays: query", illegal_address, driver().cuStreamQuery(stream.get()));
    CUdeviceptr address = 0;
    scene.expect("it stays: allocate", illegal_address, driver().cuMemAlloc(&address, MiB));
    std::uint64_t word = 0;
    scene.expect("it stays: copy", illegal_address, driver().cuMemcpyDtoH(&word, memory.address(), 8));
    std::uint64_t type = 0;
    scene.observe("pointer query", driver().cuPointerGetAttribute(&type, attribute_memory_type, memory.address()));
}

void owner(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(4 * MiB);
    store(memory.address(), words_from(100, 4096));
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("stored");
    scene.expect("what the other's kernel stored", true, load(memory.address() + MiB, 4096) == words_from(800, 4096));
    scene.other().say("seen");
}

void reader(Scene& scene) {
    const Gpu gpu(scene);
    const Kernels kernels;
    const IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
    const Memory copy(MiB);
    const Stream stream;
    need("launch", kernels.copy(stream, {copy.address(), mapping.address(), 4096}));
    need("launch", kernels.store(stream, {mapping.address() + MiB, 800, 4096, 0, 0}));
    scene.expect("synchronise", success, stream.synchronize());
    scene.expect("what the owner stored", true, load(copy.address(), 4096) == words_from(100, 4096));
    scene.other().say("stored");
    scene.other().hear("seen");
}

}  // namespace

void add_kernels(Suite& suite) {
    suite.enter("kernels");
    suite.add("images are loaded, and refused", loading);
    suite.add("a kernel stores, then sets a flag in host memory", stores_then_flag);
    suite.add("a kernel stores into host memory, then sets a flag", stores_into_host_memory);
    suite.add("a running kernel sees what a processor stores", running_kernel_sees_the_host);
    suite.add("a kernel that waits in vain gives up", bounded_wait);
    suite.add("arguments are copied at the launch", arguments_are_copied);
    suite.add("a kernel reads and writes another process's memory", owner, reader);
    suite.add("an illegal address spoils the context", spoils_the_context);
}

}  // namespace peercoll::conformance::cuda
