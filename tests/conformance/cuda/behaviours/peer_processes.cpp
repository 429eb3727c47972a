// SPDX-License-Identifier: BSD-3-Clause
// Two processes, each on its own device.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/kernels.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void owner(Scene& scene) {
    const Gpu gpu(scene, 0);
    need_devices(scene, 2);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("stored");
    scene.expect("what the reader's kernel stored", true, load(memory.address(), count) == words_from(900, count));
    scene.other().say("seen");
}

void reader(Scene& scene) {
    const Gpu gpu(scene, 1);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr address = 0;
    scene.expect("open", success, driver().cuIpcOpenMemHandle(&address, handle, ipc_lazy_enable_peer_access));
    int ordinal = -1;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&ordinal, attribute_device_ordinal, address));
    scene.observe("device of the mapping", ordinal);
    {
        const Kernels kernels;
        const Memory copy(bytes);
        const Stream stream;
        need("launch", kernels.copy(stream, {copy.address(), address, count}));
        scene.expect("loads", success, stream.synchronize());
        scene.expect("what was loaded", true, load(copy.address(), count) == words_from(100, count));
        need("launch", kernels.store(stream, {address, 900, count, 0, 0}));
        scene.expect("stores", success, stream.synchronize());
    }
    scene.other().say("stored");
    scene.other().hear("seen");
    scene.expect("close", success, driver().cuIpcCloseMemHandle(address));
}

}  // namespace

void add_peer_processes(Suite& suite) {
    suite.enter("peer processes");
    suite.add("a process on another device opens the memory", owner, reader);
}

}  // namespace peercoll::conformance::cuda
