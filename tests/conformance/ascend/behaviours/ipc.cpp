// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process by keys: who may read it, how it may be copied, and who closes first.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

#include <array>

namespace peercoll::conformance::ascend {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;
using Key = std::array<char, key_bytes>;

void need_ipc(Scene& scene) {
    need_devices(scene, 1);
    if (!lib().aclrtIpcMemGetExportKey) scene.skip("the library has no aclrtIpcMemGetExportKey");
    if (is_soc("Ascend310B")) scene.skip("the 310B has no such memory");
}

Key key_of(const Memory& memory, std::uint64_t flags) {
    Key key{};
    need("aclrtIpcMemGetExportKey",
         lib().aclrtIpcMemGetExportKey(memory.at(), memory.bytes(), key.data(), key.size(), flags));
    return key;
}

void what_has_a_key(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const Memory memory(npu, bytes);
    Key key{};
    const auto ask = [&](void* address, std::size_t room, std::uint64_t flags) {
        return lib().aclrtIpcMemGetExportKey(address, 64, key.data(), room, flags);
    };
    scene.expect("inside an allocation", false, ask(memory.at(64), key.size(), 1) == code::success);
    std::vector<char> of_malloc(4096);
    scene.expect("memory of malloc", false, ask(of_malloc.data(), key.size(), 1) == code::success);
    scene.expect("too little room for a key", false, ask(memory.at(), 64, 1) == code::success);
    scene.expect("flags that are none", false, ask(memory.at(), key.size(), 2) == code::success);
    scene.expect("the beginning", code::success, ask(memory.at(), key.size(), export_to_any_process));
    scene.expect("the key is a text", true, std::memchr(key.data(), 0, key.size()) != nullptr && key[0] != 0);
    scene.expect("close it", code::success, lib().aclrtIpcMemClose(key.data()));
    scene.expect("close it again succeeds", false, lib().aclrtIpcMemClose(key.data()) == code::success);
}

void owner(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const Memory memory(npu, bytes);
    memory.store(words_from(100, count));
    const Key key = key_of(memory, export_to_any_process);
    scene.other().send(key);
    scene.other().hear("done");
    scene.expect("what the reader wrote is there", true, memory.load(count) == words_from(700, count));
    scene.expect("close the key", code::success, lib().aclrtIpcMemClose(key.data()));
}

// Asynchronous copies between devices are the one kind that is allowed with memory of the same device.
void reads_and_writes(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const auto key = scene.other().receive<Key>();
    void* address = nullptr;
    scene.expect("flags that are none", false, lib().aclrtIpcMemImportByKey(&address, key.data(), 2) == code::success);
    scene.expect("import", code::success, lib().aclrtIpcMemImportByKey(&address, key.data(), 0));
    {
        const Memory own(npu, bytes);
        const Stream stream;
        scene.expect(
            "copy from it", code::success,
            lib().aclrtMemcpyAsync(own.at(), bytes, address, bytes, copy_kind::device_to_device, stream.get()));
        scene.expect("synchronise", code::success, stream.synchronize());
        scene.expect("what the owner wrote", true, own.load(count) == words_from(100, count));
        own.store(words_from(700, count));
        scene.expect(
            "copy to it", code::success,
            lib().aclrtMemcpyAsync(address, bytes, own.at(), bytes, copy_kind::device_to_device, stream.get()));
        scene.expect("synchronise that", code::success, stream.synchronize());
        const HostMemory host(4096);
        // The documents forbid them; a device that takes one would do no harm.
        scene.observe("a copy to the host, which is not allowed, succeeds",
                      lib().aclrtMemcpyAsync(host.words(), 8, address, 8, copy_kind::device_to_host, stream.get()) ==
                          code::success);
        scene.observe("a synchronous copy, which is not allowed, succeeds",
                      lib().aclrtMemcpy(own.at(), 8, address, 8, copy_kind::device_to_device) == code::success);
        need("aclrtSynchronizeStream", stream.synchronize());
    }
    scene.expect("close", code::success, lib().aclrtIpcMemClose(key.data()));
    scene.expect("close again succeeds", false, lib().aclrtIpcMemClose(key.data()) == code::success);
    scene.other().say("done");
}

void owner_with_a_list(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const Memory memory(npu, bytes);
    const Key key = key_of(memory, 0);
    scene.other().send(key);
    auto reader = scene.other().receive<std::int32_t>();
    scene.expect("let it read", code::success, lib().aclrtIpcMemSetImportPid(key.data(), &reader, 1));
    scene.other().say("allowed");
    scene.other().hear("done");
    scene.expect("close the key", code::success, lib().aclrtIpcMemClose(key.data()));
}

void reader_on_the_list(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const auto key = scene.other().receive<Key>();
    void* address = nullptr;
    scene.expect("before it is on the list", false,
                 lib().aclrtIpcMemImportByKey(&address, key.data(), 0) == code::success);
    std::int32_t pid = 0;
    scene.expect("its pid, as the driver calls it", code::success, lib().aclrtDeviceGetBareTgid(&pid));
    scene.other().send(pid);
    scene.other().hear("allowed");
    scene.expect("afterwards", code::success, lib().aclrtIpcMemImportByKey(&address, key.data(), 0));
    scene.expect("close", code::success, lib().aclrtIpcMemClose(key.data()));
    scene.other().say("done");
}

void owner_of_second_device(Scene& scene) {
    need_peers(scene);
    need_ipc(scene);
    const Npu npu(scene, 1);
    const Memory memory(npu, bytes);
    memory.store(words_from(100, count));
    const Key key = key_of(memory, export_to_any_process);
    scene.other().send(key);
    scene.other().hear("done");
    scene.expect("close the key", code::success, lib().aclrtIpcMemClose(key.data()));
}

// The flag enables both directions.
void reader_on_another_device(Scene& scene) {
    need_peers(scene);
    need_ipc(scene);
    const Npu npu(scene, 0);
    const auto key = scene.other().receive<Key>();
    void* address = nullptr;
    scene.expect("import with peer access", code::success,
                 lib().aclrtIpcMemImportByKey(&address, key.data(), import_with_peer_access));
    {
        const Memory own(npu, bytes);
        const Stream stream;
        scene.expect(
            "copy from it", code::success,
            lib().aclrtMemcpyAsync(own.at(), bytes, address, bytes, copy_kind::device_to_device, stream.get()));
        scene.expect("synchronise", code::success, stream.synchronize());
        scene.expect("what the owner wrote", true, own.load(count) == words_from(100, count));
    }
    scene.expect("close", code::success, lib().aclrtIpcMemClose(key.data()));
    scene.other().say("done");
}

void owner_that_is_killed(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const Memory memory(npu, bytes);
    scene.other().send(key_of(memory, export_to_any_process));
    scene.other().hear("mapped");
    scene.die_at_once();
}

void reader_that_outlives(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    const auto key = scene.other().receive<Key>();
    void* address = nullptr;
    need("aclrtIpcMemImportByKey", lib().aclrtIpcMemImportByKey(&address, key.data(), 0));
    scene.other().say("mapped");
    scene.other().hear_end();
    scene.note("close after the owner's end", lib().aclrtIpcMemClose(key.data()));
    Memory memory(npu, bytes);
    scene.expect("allocate and free afterwards", code::success, memory.free());
}

void garbage(Scene& scene) {
    need_ipc(scene);
    const Npu npu(scene);
    void* address = nullptr;
    Key key{};
    scene.expect("an empty key", false, lib().aclrtIpcMemImportByKey(&address, key.data(), 0) == code::success);
    std::memset(key.data(), 'x', key.size() - 1);
    scene.expect("a key that names nothing", false,
                 lib().aclrtIpcMemImportByKey(&address, key.data(), 0) == code::success);
}

}  // namespace

void add_ipc(Suite& suite) {
    suite.enter("IPC");
    suite.add("what has a key, and what has none", what_has_a_key);
    suite.add("the other process reads and writes", owner, reads_and_writes);
    suite.add("an owner's list of readers", owner_with_a_list, reader_on_the_list);
    suite.add("a process on another device reads", owner_of_second_device, reader_on_another_device);
    suite.add("a reader goes on after the owner was killed", owner_that_is_killed, reader_that_outlives);
    suite.add("keys that name nothing", garbage);
}

}  // namespace peercoll::conformance::ascend
