// SPDX-License-Identifier: BSD-3-Clause
// Handles: what can be named, and how a name is opened, by release.
#include "tests/conformance/hip/ipc.hpp"

#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/kernels.hpp"

#include <cstdlib>

namespace peercoll::conformance::hip {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void what_has_a_handle(Scene& scene) {
    need_devices(scene, 1);
    HipIpcHandle handle{};
    const Memory memory(bytes);
    scene.expect("memory of hipMalloc", code::success, lib().hipIpcGetMemHandle(&handle, memory.at()));
    scene.expect("no place for the handle", code::invalid_value, lib().hipIpcGetMemHandle(nullptr, memory.at()));
    std::vector<char> of_malloc(4096);
    scene.expect("memory of malloc has one", false,
                 lib().hipIpcGetMemHandle(&handle, of_malloc.data()) == code::success);
    void* managed = nullptr;
    constexpr unsigned attach_global = 1;
    need("hipMallocManaged", lib().hipMallocManaged(&managed, bytes, attach_global));
    scene.expect("managed memory has one", false, lib().hipIpcGetMemHandle(&handle, managed) == code::success);
    need("hipFree", lib().hipFree(managed));
    void* pinned = nullptr;
    need("hipHostMalloc", lib().hipHostMalloc(&pinned, bytes, 0));
    scene.expect("pinned memory has one", false, lib().hipIpcGetMemHandle(&handle, pinned) == code::success);
    need("hipHostFree", lib().hipHostFree(pinned));
    const Stream stream;
    void* of_pool = nullptr;
    need("hipMallocAsync", lib().hipMallocAsync(&of_pool, bytes, stream.get()));
    need("hipStreamSynchronize", stream.synchronize());
    scene.expect("memory of a pool has one", false, lib().hipIpcGetMemHandle(&handle, of_pool) == code::success);
    need("hipFreeAsync", lib().hipFreeAsync(of_pool, stream.get()));
    need("hipStreamSynchronize", stream.synchronize());
}

void own_handle(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(bytes);
    void* address = nullptr;
    const HipError expected = release().own_handle();
    scene.expect("open the own handle", expected,
                 lib().hipIpcOpenMemHandle(&address, ipc_handle(memory.at()), release().ipc_flag()));
    if (expected == code::success) scene.expect("close it", code::success, lib().hipIpcCloseMemHandle(address));
    scene.expect("close own memory", code::invalid_value, lib().hipIpcCloseMemHandle(memory.at()));
}

// The owner of one allocation of known words, for as long as the reader wants it.
void owner(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(bytes);
    store(memory.at(), words_from(100, count));
    scene.other().send(ipc_handle(memory.at()));
    scene.other().hear("done");
    scene.expect("what the reader wrote is there", true, load(memory.at(), count) == words_from(700, count));
}

void reads_and_writes(Scene& scene) {
    need_devices(scene, 1);
    const auto handle = scene.other().receive<HipIpcHandle>();
    void* address = nullptr;
    const unsigned flag = release().ipc_flag();
    scene.expect("the other flag", code::invalid_value, lib().hipIpcOpenMemHandle(&address, handle, 1 - flag));
    scene.expect("the release's flag", code::success, lib().hipIpcOpenMemHandle(&address, handle, flag));
    scene.expect("what the owner wrote is there", true, load(address, count) == words_from(100, count));
    store(address, words_from(700, count));
    const HipPointerAttributes attributes = attributes_of(address);
    scene.expect("type", release().device_type(), attributes.type);
    scene.expect("device", 0, attributes.device);
    void* base = nullptr;
    std::size_t size = 0;
    scene.expect("address range", code::success, lib().hipMemGetAddressRange(&base, &size, address));
    scene.expect("base", true, base == address);
    scene.expect("size", bytes, size);
    scene.expect("close inside", code::invalid_value,
                 lib().hipIpcCloseMemHandle(static_cast<std::byte*>(address) + MiB));
    scene.expect("close", code::success, lib().hipIpcCloseMemHandle(address));
    scene.expect("close again", code::invalid_value, lib().hipIpcCloseMemHandle(address));
    scene.other().say("done");
}

void owner_of_interior(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(bytes);
    store(memory.at(), words_from(100, count));
    scene.other().send(ipc_handle(memory.at(2 * MiB)));
    scene.other().hear("done");
}

// Unlike CUDA's, which opens at the base.
void opens_where_it_was_made(Scene& scene) {
    need_devices(scene, 1);
    const IpcMapping mapping(scene.other().receive<HipIpcHandle>());
    scene.expect("the first word", 100 + 2 * MiB / 8, load(mapping.at(), 1)[0]);
    scene.other().say("done");
}

void owner_of_something(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(bytes);
    store(memory.at(), words_from(100, count));
    scene.other().send(ipc_handle(memory.at()));
    scene.other().hear("done");
}

// Only 7 is known to count. What earlier ones answer the plugin never asks: it opens a handle once.
void opens_twice(Scene& scene) {
    need_devices(scene, 1);
    const auto handle = scene.other().receive<HipIpcHandle>();
    IpcMapping first(handle);
    void* again = nullptr;
    const HipError error = lib().hipIpcOpenMemHandle(&again, handle, release().ipc_flag());
    if (release().major() < 7) {
        scene.note("open again", error);
    } else {
        scene.expect("open again", code::success, error);
        scene.expect("at the same address", true, again == first.at());
        scene.expect("close", code::success, lib().hipIpcCloseMemHandle(again));
        scene.expect("it is still there", 100u, load(first.at(), 1)[0]);
    }
    scene.expect("close the last time", code::success, first.close());
    scene.other().say("done");
}

void mapped_for_the_current_device(Scene& scene) {
    need_devices(scene, 2);
    const auto handle = scene.other().receive<HipIpcHandle>();
    need("hipSetDevice", lib().hipSetDevice(1));
    IpcMapping mapping(handle);
    if (release().major() < 7)
        scene.expect("device of the mapping", 1, attributes_of(mapping.at()).device);
    else
        scene.note("device of the mapping", attributes_of(mapping.at()).device);
    {
        const Kernels kernels;
        const Memory copy(bytes, 1);
        const Stream stream;
        need("launch", kernels.copy(stream, {address_of(copy.at()), address_of(mapping.at()), count}));
        scene.expect("loads of a kernel", code::success, stream.synchronize());
        scene.expect("what was loaded", true, load(copy.at(), count) == words_from(100, count));
    }
    scene.expect("close", code::success, mapping.close());
    scene.other().say("done");
}

// HIP 7 reads the owner's number of the device as the reader's.
void owner_of_second_device(Scene& scene) {
    need_devices(scene, 2);
    const Memory memory(bytes, 1);
    scene.other().send(ipc_handle(memory.at()));
    scene.other().hear("done");
}

void sees_the_second_device_only(Scene& scene) {
    setenv("HIP_VISIBLE_DEVICES", "1", 1);
    const auto handle = scene.other().receive<HipIpcHandle>();
    need_devices(scene, 1);
    void* address = nullptr;
    const HipError error = lib().hipIpcOpenMemHandle(&address, handle, release().ipc_flag());
    if (release().major() >= 7)
        scene.expect("open memory of what the owner calls device 1, with one device", code::invalid_value, error);
    else
        scene.note("open memory of what the owner calls device 1, with one device", error);
    if (error == code::success) need("hipIpcCloseMemHandle", lib().hipIpcCloseMemHandle(address));
    scene.other().say("done");
}

}  // namespace

void add_ipc(Suite& suite) {
    suite.enter("IPC");
    suite.add("what has a handle, and what has none", what_has_a_handle);
    suite.add("a process's own handle", own_handle);
    suite.add("the other process reads and writes", owner, reads_and_writes);
    suite.add("the handle of an address inside opens there", owner_of_interior, opens_where_it_was_made);
    suite.add("a handle that is opened twice", owner_of_something, opens_twice);
    suite.add("a mapping is for the device that was current", owner_of_something, mapped_for_the_current_device);
    suite.add("processes that number devices differently", owner_of_second_device, sees_the_second_device_only);
}

}  // namespace peercoll::conformance::hip
