// SPDX-License-Identifier: BSD-3-Clause
// Handles when owners free, reuse, or end, while others have their memory open.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/ipc.hpp"

namespace peercoll::conformance::hip {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

// The plugin closes before it lets the owner free, and counts on nothing else.
void owner_frees_last(Scene& scene) {
    need_devices(scene, 1);
    Memory memory(bytes);
    scene.other().send(ipc_handle(memory.at()));
    scene.other().hear("closed");
    scene.expect("free", code::success, memory.free());
}

void reader_closes_first(Scene& scene) {
    need_devices(scene, 1);
    IpcMapping mapping(scene.other().receive<HipIpcHandle>());
    scene.expect("close", code::success, mapping.close());
    scene.other().say("closed");
}

void owner_reuses(Scene& scene) {
    need_devices(scene, 1);
    Memory first(bytes);
    const std::byte* const address = first.at();
    scene.other().send(ipc_handle(first.at()));
    scene.other().hear("closed");
    need("hipFree", first.free());
    const Memory second(bytes);
    store(second.at(), words_from(900, count));
    scene.note("the next allocation has the same address", second.at() == address);
    scene.other().send(ipc_handle(second.at()));
    scene.other().hear("done");
}

void reader_of_reused(Scene& scene) {
    need_devices(scene, 1);
    { const IpcMapping first(scene.other().receive<HipIpcHandle>()); }
    scene.other().say("closed");
    const IpcMapping second(scene.other().receive<HipIpcHandle>());
    scene.expect("words of the new one", true, load(second.at(), count) == words_from(900, count));
    scene.other().say("done");
}

void owner_whose_handle_died(Scene& scene) {
    need_devices(scene, 1);
    Memory memory(bytes);
    const HipIpcHandle handle = ipc_handle(memory.at());
    need("hipFree", memory.free());
    scene.other().send(handle);
    scene.other().hear("done");
}

void reader_of_dead_handle(Scene& scene) {
    need_devices(scene, 1);
    void* address = nullptr;
    const auto handle = scene.other().receive<HipIpcHandle>();
    scene.expect("opened", false, lib().hipIpcOpenMemHandle(&address, handle, release().ipc_flag()) == code::success);
    scene.other().say("done");
}

void owner_that_is_killed(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(bytes);
    store(memory.at(), words_from(100, count));
    scene.other().send(ipc_handle(memory.at()));
    scene.other().hear("mapped");
    scene.die_at_once();
}

void reader_that_outlives(Scene& scene) {
    need_devices(scene, 1);
    IpcMapping mapping(scene.other().receive<HipIpcHandle>());
    scene.expect("what the owner wrote is there", true, load(mapping.at(), count) == words_from(100, count));
    scene.other().say("mapped");
    scene.other().hear_end();
    scene.expect("close after the owner's end", code::success, mapping.close());
    Memory memory(bytes);
    scene.expect("allocate and free afterwards", code::success, memory.free());
}

}  // namespace

void add_ipc_lifetime(Suite& suite) {
    suite.enter("IPC lifetime");
    suite.add("an owner frees what nobody has open any more", owner_frees_last, reader_closes_first);
    suite.add("an address that is freed and used again", owner_reuses, reader_of_reused);
    suite.add("the handle of freed memory cannot be opened", owner_whose_handle_died, reader_of_dead_handle);
    suite.add("closing after the owner was killed", owner_that_is_killed, reader_that_outlives);
}

}  // namespace peercoll::conformance::hip
