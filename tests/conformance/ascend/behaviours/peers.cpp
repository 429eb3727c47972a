// SPDX-License-Identifier: BSD-3-Clause
// Peer access: every function of Huawei's page "Cross-Device Data Exchange", with its results and errors, and its
// sample with the checks that it leaves out. Where the driver's source says more than the page, the source is expected.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

namespace peercoll::conformance::ascend {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void questions_of_one(Scene& scene) {
    const Npu npu(scene);
    std::uint32_t there = 0;
    need("aclrtGetDeviceCount", lib().aclrtGetDeviceCount(&there));
    const auto behind = static_cast<std::int32_t>(there);
    std::int32_t can = -1;
    scene.expect("a device of itself", code::invalid_param, lib().aclrtDeviceCanAccessPeer(&can, 0, 0));
    scene.expect("the device behind the last", code::rt_invalid_device,
                 lib().aclrtDeviceCanAccessPeer(&can, 0, behind));
    scene.expect("no place for the answer", code::invalid_param, lib().aclrtDeviceCanAccessPeer(nullptr, 0, behind));
    scene.expect("enable itself", code::invalid_param, lib().aclrtDeviceEnablePeerAccess(0, 0));
    scene.expect("enable with flags", code::feature_unsupported, lib().aclrtDeviceEnablePeerAccess(behind, 1));
    scene.expect("enable what is not there succeeds", false,
                 lib().aclrtDeviceEnablePeerAccess(behind, 0) == code::success);
}

// No code says that it was enabled already; as many times as it was enabled it has to be disabled.
void enabling_counts(Scene& scene) {
    need_peers(scene);
    const Npu npu(scene);
    scene.expect("disable before enable succeeds", false, lib().aclrtDeviceDisablePeerAccess(1) == code::success);
    scene.expect("enable", code::success, lib().aclrtDeviceEnablePeerAccess(1, 0));
    scene.expect("enable again", code::success, lib().aclrtDeviceEnablePeerAccess(1, 0));
    scene.expect("disable", code::success, lib().aclrtDeviceDisablePeerAccess(1));
    scene.expect("disable again", code::success, lib().aclrtDeviceDisablePeerAccess(1));
    scene.expect("disable once more succeeds", false, lib().aclrtDeviceDisablePeerAccess(1) == code::success);
}

AclError copy(const Memory& to, const Memory& from) {
    return lib().aclrtMemcpy(to.at(), bytes, from.at(), bytes, copy_kind::device_to_device);
}

// The page's sample: both directions, then copies.
void sample(Scene& scene) {
    need_peers(scene);
    const Npu first(scene, 0);
    const Npu second(scene, 1);
    {
        const Memory of_first(first, bytes);
        scene.expect("enable 0 to 1", code::success, lib().aclrtDeviceEnablePeerAccess(1, 0));
        const Memory of_second(second, bytes);
        scene.expect("enable 1 to 0", code::success, lib().aclrtDeviceEnablePeerAccess(0, 0));
        of_first.store(words_from(100, count));
        second.use();
        scene.expect("copy 0 to 1", code::success, copy(of_second, of_first));
        scene.expect("what arrived", true, of_second.load(count) == words_from(100, count));
        of_second.store(words_from(900, count));
        const Memory later(second, bytes);
        later.store(words_from(5, count));
        first.use();
        const Stream stream;
        scene.expect("copy 1 to 0, asynchronous", code::success,
                     lib().aclrtMemcpyAsync(of_first.at(), bytes, of_second.at(), bytes, copy_kind::device_to_device,
                                            stream.get()));
        scene.expect("synchronise", code::success, stream.synchronize());
        scene.expect("what arrived there", true, of_first.load(count) == words_from(900, count));
        first.use();
        scene.expect("from memory allocated after access was enabled", code::success, copy(of_first, later));
        scene.expect("what arrived then", true, of_first.load(count) == words_from(5, count));
    }
    second.use();
    scene.expect("disable 1 to 0", code::success, lib().aclrtDeviceDisablePeerAccess(0));
    first.use();
    scene.expect("disable 0 to 1", code::success, lib().aclrtDeviceDisablePeerAccess(1));
}

// The driver's source maps nothing before both directions are on; the page has no word of one direction alone.
void needs_both_directions(Scene& scene) {
    need_peers(scene);
    const Npu second(scene, 1);
    const Npu first(scene, 0);
    {
        const Memory of_second(second, bytes);
        const Memory of_first(first, bytes);
        of_second.store(words_from(1, 1));
        first.use();
        scene.expect("a copy before either succeeds", false, copy(of_first, of_second) == code::success);
        need("aclrtDeviceEnablePeerAccess", lib().aclrtDeviceEnablePeerAccess(1, 0));
        scene.expect("with one direction it succeeds", false, copy(of_first, of_second) == code::success);
        second.use();
        need("aclrtDeviceEnablePeerAccess", lib().aclrtDeviceEnablePeerAccess(0, 0));
        first.use();
        scene.expect("with both", code::success, copy(of_first, of_second));
    }
    first.use();
    need("aclrtDeviceDisablePeerAccess", lib().aclrtDeviceDisablePeerAccess(1));
    second.use();
    need("aclrtDeviceDisablePeerAccess", lib().aclrtDeviceDisablePeerAccess(0));
}

}  // namespace

void add_peers(Suite& suite) {
    suite.enter("peers");
    suite.add("a device is no peer of itself, and not of what is not there", questions_of_one);
    suite.add("enabling counts, and never says that it was on", enabling_counts);
    suite.add("copies between two devices, as in the vendor's sample", sample);
    suite.add("nothing is copied before both directions are on", needs_both_directions);
}

}  // namespace peercoll::conformance::ascend
