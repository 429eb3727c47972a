// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/peers.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

Status peer_error(const Attachment& attachment, CuResult error, std::string_view verb, int32_t device, int32_t peer) {
    std::string_view advice;
    if (error == code::peer_access_unsupported) advice = "these two devices cannot reach each other's memory";
    if (error == code::too_many_peers) advice = "the device has as many peers as its hardware can have";
    return driver_error(attachment.driver, error,
                        fmt::format("{} access of CUDA device {} to device {}", verb, device, peer), advice);
}

// The context of `peer`, with that of `device` current.
template <typename Work>
Status between(Attachment& attachment, int32_t device, int32_t peer, Work work) {
    Device* const other = attachment.device(peer);
    if (other == nullptr) return no_device(attachment, peer);
    CuContext peer_context = nullptr;
    if (Status retained = retain_context(attachment, *other, peer_context); !retained.ok()) return retained;
    return on_device(attachment, device, [&](Device&) { return work(peer_context); });
}

Status disable(Attachment& attachment, int32_t device, int32_t peer) {
    return between(attachment, device, peer, [&](CuContext peer_context) -> Status {
        const CuResult error = attachment.driver.context_disable_peer(peer_context);
        // Disabled by somebody else already, or gone with its context: as it should be.
        if (error == code::success || error == code::peer_access_not_enabled || is_teardown(error)) return {};
        return peer_error(attachment, error, "disabling", device, peer);
    });
}

}  // namespace

int can_access_peer(int32_t device, int32_t peer) {
    const Attachment* const present = attachment();
    if (present == nullptr) return 0;
    const Device* const from = present->device(device);
    const Device* const to = present->device(peer);
    if (from == nullptr || to == nullptr) return 0;
    if (from == to) return 1;
    int can = 0;
    return present->driver.device_can_access_peer(&can, from->handle, to->handle) == code::success && can != 0 ? 1 : 0;
}

peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (device == peer) return attachment.device(device) != nullptr ? Status() : no_device(attachment, device);
        const std::lock_guard lock(attachment.mutex);
        PeerAccess& access = attachment.peers[{device, peer}];
        if (access.count > 0) {
            ++access.count;
            return {};
        }
        return between(attachment, device, peer, [&](CuContext peer_context) -> Status {
            const CuResult error = attachment.driver.context_enable_peer(peer_context, 0);
            if (error != code::success && error != code::peer_access_already_enabled)
                return peer_error(attachment, error, "enabling", device, peer);
            access.ours = error == code::success;
            access.count = 1;
            return {};
        });
    });
}

peercoll_status_t disable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (device == peer) return attachment.device(device) != nullptr ? Status() : no_device(attachment, device);
        const std::lock_guard lock(attachment.mutex);
        const auto access = attachment.peers.find({device, peer});
        if (access == attachment.peers.end() || access->second.count == 0)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("access of CUDA device {} to device {} was not enabled here, or disabled as often "
                                "as it was enabled",
                                device, peer)};
        if (--access->second.count > 0) return {};
        const bool ours = access->second.ours;
        attachment.peers.erase(access);
        return ours ? disable(attachment, device, peer) : Status();
    });
}

void disable_our_peers(Attachment& attachment) {
    const std::lock_guard lock(attachment.mutex);
    for (const auto& [pair, access] : attachment.peers)
        if (access.count > 0 && access.ours) (void)disable(attachment, pair.first, pair.second);
    attachment.peers.clear();
}

}  // namespace peercoll::cuda
