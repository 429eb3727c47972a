// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/peers.hpp"

#include "plugin/device/hip/current_device.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

Status peer_error(const Attachment& attachment, HipError error, std::string_view verb, int32_t device, int32_t peer) {
    // HIP says "invalid device" where CUDA says that access is not supported.
    const bool denied = error == code::invalid_device || error == code::peer_access_unsupported;
    Status status =
        hip_error(attachment.hip, error, fmt::format("{} access of HIP device {} to device {}", verb, device, peer),
                  denied ? "these two devices cannot reach each other's memory" : "");
    return denied ? Status(PEERCOLL_ERR_NOT_SUPPORTED, status.sentence()) : status;
}

Status disable(Attachment& attachment, int32_t device, int32_t peer) {
    return on_device(attachment, device, [&](Device&) -> Status {
        const HipError error = attachment.hip.device_disable_peer(peer);
        // Disabled by somebody else already: as it should be.
        if (error == code::success || error == code::peer_access_not_enabled) return {};
        return peer_error(attachment, error, "disabling", device, peer);
    });
}

Status no_such_pair(const Attachment& attachment, int32_t device, int32_t peer) {
    for (const int32_t one : {device, peer})
        if (attachment.device(one) == nullptr) return no_device(attachment, one);
    return {};
}

}  // namespace

int can_access_peer(int32_t device, int32_t peer) {
    int can = 0;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        // A device is no peer of itself for HIP, which says so even of one that is not there.
        if (Status status = no_such_pair(attachment, device, peer); !status.ok()) return status;
        if (device == peer) {
            can = 1;
        } else if (attachment.hip.device_can_access_peer(&can, device, peer) != code::success) {
            can = 0;
        }
        return {};
    });
    return can != 0 ? 1 : 0;
}

peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (Status status = no_such_pair(attachment, device, peer); !status.ok() || device == peer) return status;
        const std::lock_guard lock(attachment.mutex);
        PeerAccess& access = attachment.peers[{device, peer}];
        if (access.count > 0) {
            ++access.count;
            return {};
        }
        return on_device(attachment, device, [&](Device&) -> Status {
            const HipError error = attachment.hip.device_enable_peer(peer, 0);
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
        if (Status status = no_such_pair(attachment, device, peer); !status.ok() || device == peer) return status;
        const std::lock_guard lock(attachment.mutex);
        const auto access = attachment.peers.find({device, peer});
        if (access == attachment.peers.end() || access->second.count == 0)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("access of HIP device {} to device {} was not enabled here, or disabled as often as it "
                                "was enabled",
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

}  // namespace peercoll::hip
