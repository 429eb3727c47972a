// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/peers.hpp"

#include "plugin/device/ascend/current_context.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

std::pair<int32_t, int32_t> pair_of(int32_t device, int32_t peer) {
    return {std::min(device, peer), std::max(device, peer)};
}

// Two dies of one package reach each other without being told; telling the driver so is an error.
bool are_one_package(const AclFunctions& acl, int32_t device, int32_t peer) {
    std::uint64_t bits = 0;
    return acl.get_devices_topology != nullptr &&
           acl.get_devices_topology(static_cast<std::uint32_t>(device), static_cast<std::uint32_t>(peer), &bits) ==
               code::success &&
           (bits & topology_same_package) != 0;
}

bool says_yes(const AclFunctions& acl, int32_t device, int32_t peer) {
    std::int32_t can = 0;
    return acl.device_can_access_peer(&can, device, peer) == code::success && can != 0;
}

Status check_pair(const Attachment& attachment, int32_t device, int32_t peer) {
    for (const int32_t one : {device, peer})
        if (attachment.device(one) == nullptr) return no_device(attachment, one);
    return {};
}

Status enable_one(Attachment& attachment, int32_t device, int32_t peer) {
    return on_device(attachment, device, [&](Device&) -> Status {
        const AclError error = attachment.acl.device_enable_peer(peer, 0);
        if (error == code::success) return {};
        Status status = acl_error(attachment.acl, error,
                                  fmt::format("enabling access of Ascend device {} to device {}", device, peer));
        return {PEERCOLL_ERR_NOT_SUPPORTED, status.sentence()};
    });
}

Status disable_one(Attachment& attachment, int32_t device, int32_t peer) {
    return on_device(attachment, device, [&](Device&) -> Status {
        const AclError error = attachment.acl.device_disable_peer(peer);
        if (error == code::success) return {};
        return acl_error(attachment.acl, error,
                         fmt::format("disabling access of Ascend device {} to device {}", device, peer));
    });
}

// Both directions, or neither.
Status enable_both(Attachment& attachment, int32_t device, int32_t peer) {
    if (Status status = enable_one(attachment, device, peer); !status.ok()) return status;
    Status status = enable_one(attachment, peer, device);
    if (!status.ok()) (void)disable_one(attachment, device, peer);
    return status;
}

Status disable_both(Attachment& attachment, int32_t device, int32_t peer) {
    Status one = disable_one(attachment, device, peer);
    Status other = disable_one(attachment, peer, device);
    return one.ok() ? other : one;
}

}  // namespace

int can_access_peer(int32_t device, int32_t peer) {
    int can = 0;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (Status status = check_pair(attachment, device, peer); !status.ok()) return status;
        if (device == peer) {
            can = 1;  // ACL calls the question an error
            return {};
        }
        if (!attachment.device(device)->shares || !attachment.device(peer)->shares) return {};
        return quietly(attachment.acl, [&] {
            const AclFunctions& acl = attachment.acl;
            can = (says_yes(acl, device, peer) && says_yes(acl, peer, device)) || are_one_package(acl, device, peer);
            return Status();
        });
    });
    return can;
}

Status enable_pair(Attachment& attachment, int32_t device, int32_t peer) {
    if (Status status = check_pair(attachment, device, peer); !status.ok() || device == peer) return status;
    const std::lock_guard lock(attachment.mutex);
    const auto pair = pair_of(device, peer);
    if (const auto known = attachment.peers.find(pair); known != attachment.peers.end()) {
        ++known->second;
        return {};
    }
    bool one_package = false;
    Status asked = quietly(attachment.acl, [&] {
        one_package = are_one_package(attachment.acl, device, peer);
        return Status();
    });
    if (!asked.ok()) return asked;
    if (!one_package)
        if (Status status = enable_both(attachment, device, peer); !status.ok()) return status;
    attachment.peers[pair] = 1;
    return {};
}

bool is_enabled(Attachment& attachment, int32_t device, int32_t peer) {
    const std::lock_guard lock(attachment.mutex);
    return device == peer || attachment.peers.contains(pair_of(device, peer));
}

peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) { return enable_pair(attachment, device, peer); });
}

peercoll_status_t disable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (Status status = check_pair(attachment, device, peer); !status.ok() || device == peer) return status;
        const std::lock_guard lock(attachment.mutex);
        const auto known = attachment.peers.find(pair_of(device, peer));
        if (known == attachment.peers.end())
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("access between Ascend devices {} and {} was not enabled here, or disabled as often as "
                                "it was enabled",
                                device, peer)};
        if (--known->second > 0) return {};
        attachment.peers.erase(known);
        if (are_one_package(attachment.acl, device, peer)) return {};
        return disable_both(attachment, device, peer);
    });
}

void disable_our_peers(Attachment& attachment) {
    const std::lock_guard lock(attachment.mutex);
    for (const auto& [pair, count] : attachment.peers)
        if (!are_one_package(attachment.acl, pair.first, pair.second))
            (void)disable_both(attachment, pair.first, pair.second);
    attachment.peers.clear();
}

}  // namespace peercoll::ascend
