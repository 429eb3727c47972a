// SPDX-License-Identifier: BSD-3-Clause
// Legacy IPC when owners free, reuse, or end, while others have their memory open.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;
constexpr std::size_t large = 64 * MiB;

// What became free or was taken since `before`, in MiB: the driver's own bookkeeping is smaller.
std::int64_t grown_by(std::size_t before) {
    return (static_cast<std::int64_t>(free_bytes()) - static_cast<std::int64_t>(before)) /
           static_cast<std::int64_t>(MiB);
}

void owner_frees_while_mapped(Scene& scene) {
    const Gpu gpu(scene);
    scene.other().hear("ready");  // its context takes memory too
    Memory memory(large);
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("mapped");
    const std::size_t before = free_bytes();
    scene.expect("free", success, memory.free());
    scene.expect("MiB that came back", 0, grown_by(before));
    scene.other().say("freed");
    scene.other().hear("closed");
    scene.expect("MiB that came back when the reader had closed", large / MiB, grown_by(before));
    scene.other().say("looked");
}

void reader_of_freed(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    scene.other().say("ready");
    IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
    scene.other().say("mapped");
    scene.other().hear("freed");
    std::uint64_t word = 0;
    scene.expect("reading what the owner freed", success, driver().cuMemcpyDtoH(&word, mapping.address(), 8));
    scene.expect("close", success, mapping.close());
    scene.other().say("closed");
    scene.other().hear("looked");
}

void owner_frees_unmapped(Scene& scene) {
    const Gpu gpu(scene);
    scene.other().hear("ready");
    const std::size_t before = free_bytes();
    Memory memory(large);
    scene.expect("MiB taken by the allocation", -static_cast<std::int64_t>(large / MiB), grown_by(before));
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("closed");
    scene.expect("free", success, memory.free());
    scene.expect("MiB missing after free", 0, grown_by(before));
    scene.other().say("looked");
}

void reader_closes_first(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    scene.other().say("ready");
    {
        const IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
        scene.expect("size seen by the reader", true, load(mapping.address() + large - 8, 1).size() == 1);
    }
    scene.other().say("closed");
    scene.other().hear("looked");
}

void owner_reuses(Scene& scene) {
    const Gpu gpu(scene);
    Memory first(bytes);
    const CUdeviceptr first_address = first.address();
    const std::uint64_t first_id = buffer_id(first_address);
    const CUipcMemHandle first_handle = ipc_handle(first_address);
    store(first_address, words_from(100, count));
    scene.other().send(first_handle);
    scene.other().hear("mapped");
    scene.expect("free", success, first.free());
    const Memory second(bytes);
    store(second.address(), words_from(900, count));
    scene.observe("the next allocation has the same address", second.address() == first_address);
    scene.expect("it has the same id", false, buffer_id(second.address()) == first_id);
    scene.expect("it has the same handle", false, same_bytes(first_handle, ipc_handle(second.address())));
    scene.other().send(ipc_handle(second.address()));
    scene.other().hear("done");
}

void reader_of_reused(Scene& scene) {
    const Gpu gpu(scene);
    IpcMapping first(scene.other().receive<CUipcMemHandle>());
    scene.other().say("mapped");
    const auto second_handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr second = 0;
    scene.expect("open the new one while the old one is open", success,
                 driver().cuIpcOpenMemHandle(&second, second_handle, ipc_lazy_enable_peer_access));
    scene.expect("at the same address", false, second == first.address());
    scene.expect("words of the new one", true, load(second, count) == words_from(900, count));
    std::uint64_t word = 0;
    scene.expect("reading the old one", success, driver().cuMemcpyDtoH(&word, first.address(), 8));
    scene.expect("close the old one", success, first.close());
    scene.expect("words of the new one afterwards", true, load(second, count) == words_from(900, count));
    scene.expect("close the new one", success, driver().cuIpcCloseMemHandle(second));
    scene.other().say("done");
}

void owner_whose_handle_died(Scene& scene) {
    const Gpu gpu(scene);
    Memory memory(bytes);
    const CUipcMemHandle handle = ipc_handle(memory.address());
    scene.expect("free", success, memory.free());
    scene.other().send(handle);
    scene.other().hear("done");
}

void reader_of_dead_handle(Scene& scene) {
    const Gpu gpu(scene);
    CUdeviceptr address = 0;
    const CUresult code =
        driver().cuIpcOpenMemHandle(&address, scene.other().receive<CUipcMemHandle>(), ipc_lazy_enable_peer_access);
    scene.expect("opened", false, code == success);
    scene.observe("code", code);
    scene.other().say("done");
}

void owner_that_ends(Scene& scene, bool at_once) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("mapped");
    if (at_once) scene.die_at_once();
}

void reader_that_outlives(Scene& scene) {
    const Gpu gpu(scene);
    IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
    scene.expect("what the owner wrote is there", true, load(mapping.address(), count) == words_from(100, count));
    scene.other().say("mapped");
    scene.other().hear_end();
    std::uint64_t word = 0;
    scene.observe("reading after the owner's end", driver().cuMemcpyDtoH(&word, mapping.address(), 8));
    scene.expect("close after the owner's end", success, mapping.close());
    CUdeviceptr address = 0;
    scene.expect("allocating afterwards", success, driver().cuMemAlloc(&address, bytes));
    scene.expect("free", success, driver().cuMemFree(address));
}

}  // namespace

void add_ipc_lifetime(Suite& suite) {
    suite.enter("IPC lifetime");
    suite.add("memory freed by its owner comes back when the reader closes", owner_frees_while_mapped, reader_of_freed);
    suite.add("memory closed by the reader comes back when its owner frees", owner_frees_unmapped, reader_closes_first);
    suite.add("an address that is freed and used again", owner_reuses, reader_of_reused);
    suite.add("the handle of freed memory cannot be opened", owner_whose_handle_died, reader_of_dead_handle);
    suite.add(
        "closing after the owner has ended", [](Scene& scene) { owner_that_ends(scene, false); }, reader_that_outlives);
    suite.add(
        "closing after the owner was killed", [](Scene& scene) { owner_that_ends(scene, true); }, reader_that_outlives);
}

}  // namespace peercoll::conformance::cuda
