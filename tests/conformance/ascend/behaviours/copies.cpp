// SPDX-License-Identifier: BSD-3-Clause
// Copies of memory of one device: the kinds that are taken, and the room that is said to be there.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

#include <algorithm>

namespace peercoll::conformance::ascend {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void kinds(Scene& scene) {
    const Npu npu(scene);
    const Memory from(npu, bytes);
    const Memory to(npu, bytes);
    from.store(words_from(100, count));
    scene.expect("within the device", code::success,
                 lib().aclrtMemcpy(to.at(), bytes, from.at(), bytes, copy_kind::device_to_device));
    // It has ended when it returns.
    scene.expect("what was copied", true, to.load(count) == words_from(100, count));
    constexpr int inner_device = 6;
    constexpr int inter_device = 7;
    const Stream stream;
    for (const int kind : {inner_device, inter_device}) {
        const std::string which = "kind " + std::to_string(kind);
        scene.expect(which, code::invalid_param, lib().aclrtMemcpy(to.at(), 8, from.at(), 8, kind));
        scene.expect(which + ", asynchronous", code::invalid_param,
                     lib().aclrtMemcpyAsync(to.at(), 8, from.at(), 8, kind, stream.get()));
    }
}

void room(Scene& scene) {
    const Npu npu(scene);
    const Memory from(npu, bytes);
    const Memory to(npu, bytes);
    scene.expect("more than the room", code::rt_param_invalid,
                 lib().aclrtMemcpy(to.at(), 8, from.at(), 16, copy_kind::device_to_device));
    scene.expect("no bytes", code::success, lib().aclrtMemcpy(to.at(), 8, from.at(), 0, copy_kind::device_to_device));
    scene.expect("to where they are", code::success,
                 lib().aclrtMemcpy(to.at(), 8, to.at(), 8, copy_kind::device_to_device));
}

void asynchronous(Scene& scene) {
    const Npu npu(scene);
    const Memory memory(npu, bytes);
    const Memory other(npu, bytes);
    const HostMemory host(bytes);
    const std::vector<std::uint64_t> words = words_from(300, count);
    std::copy(words.begin(), words.end(), host.words());
    const Stream stream;
    scene.expect(
        "up", code::success,
        lib().aclrtMemcpyAsync(memory.at(), bytes, host.words(), bytes, copy_kind::host_to_device, stream.get()));
    scene.expect(
        "within", code::success,
        lib().aclrtMemcpyAsync(other.at(), bytes, memory.at(), bytes, copy_kind::device_to_device, stream.get()));
    // In the order of the stream: the host's memory is read before it is written.
    scene.expect(
        "down", code::success,
        lib().aclrtMemcpyAsync(host.words(), bytes, other.at(), bytes, copy_kind::device_to_host, stream.get()));
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("what came back", true, std::equal(words.begin(), words.end(), host.words()));
    const HostMemory more(4096);
    constexpr int host_to_host = 0;
    scene.expect("host to host", code::rt_feature_not_support,
                 lib().aclrtMemcpyAsync(more.words(), 8, host.words(), 8, host_to_host, stream.get()));
}

}  // namespace

void add_copies(Suite& suite) {
    suite.enter("copies");
    suite.add("kinds that are taken, and those that are not", kinds);
    suite.add("the room of the target", room);
    suite.add("asynchronous copies run in order", asynchronous);
}

}  // namespace peercoll::conformance::ascend
