// SPDX-License-Identifier: BSD-3-Clause
// Peer access: one's own device is an error, enabling counts, and nothing is reached before both directions are on. Two
// dies of one package need none and take none.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

namespace peercoll::simulator::acl {

namespace {

bool has_peers() {
    return soc().rfind("Ascend310B", 0) != 0;
}

aclError change(std::int32_t peer, int by) {
    return call_in_context([&](Context& context) -> aclError {
        if (!is_device(peer)) {
            return ACL_ERROR_RT_INVALID_DEVICEID;
        }
        if (peer == context.device) {
            return ACL_ERROR_INVALID_PARAM;
        }
        if (!has_peers()) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        const int other = runtime().devices[static_cast<std::size_t>(peer)];
        if (are_one_package(context.device, peer) || !process().node().link(context.of_node, other).access) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        const std::lock_guard lock(runtime().mutex);
        int& count = runtime().peers[{context.device, peer}];
        if (count + by < 0) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        count += by;
        return ACL_SUCCESS;
    });
}

}  // namespace

extern "C" {

aclError aclrtDeviceCanAccessPeer(std::int32_t* can, std::int32_t device, std::int32_t peer) {
    return call([&]() -> aclError {
        if (can == nullptr || device == peer) {
            return ACL_ERROR_INVALID_PARAM;
        }
        if (!is_device(device) || !is_device(peer)) {
            return ACL_ERROR_RT_INVALID_DEVICEID;
        }
        const auto of_node = [](std::int32_t one) { return runtime().devices[static_cast<std::size_t>(one)]; };
        *can = has_peers() && !are_one_package(device, peer) &&
                       process().node().link(of_node(device), of_node(peer)).access
                   ? 1
                   : 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags) {
    note_call(Call::Enable);
    return flags != 0 ? finish(ACL_ERROR_FEATURE_UNSUPPORTED) : change(peer, 1);
}

aclError aclrtDeviceDisablePeerAccess(std::int32_t peer) {
    return change(peer, -1);
}

aclError aclrtGetDevicesTopo(std::uint32_t device, std::uint32_t other, std::uint64_t* value) {
    return call([&]() -> aclError {
        const auto one = static_cast<int>(device);
        const auto two = static_cast<int>(other);
        if (value == nullptr || !is_device(one) || !is_device(two)) {
            return ACL_ERROR_INVALID_PARAM;
        }
        constexpr std::uint64_t hccs = 0x1;
        constexpr std::uint64_t sio = 0x20;
        *value = are_one_package(one, two) ? sio : hccs;
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
