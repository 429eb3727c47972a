// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/segment_offer.hpp"

#include "collectives/host/segment_layout.hpp"
#include "plugin/device/host/host_device.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::uint64_t segment_magic = 0x70656572636f6c6cull;  // "peercoll"

std::vector<peercoll_share_kind_t> kinds_to_try(SegmentKind wanted, bool namespaces_shared) {
    switch (wanted) {
        case SegmentKind::Memfd:
            return {PEERCOLL_SHARE_MEMFD};
        case SegmentKind::Shm:
            return {PEERCOLL_SHARE_SHM};
        case SegmentKind::Auto:
            break;
    }
    if (!namespaces_shared) return {PEERCOLL_SHARE_SHM};
    return {PEERCOLL_SHARE_MEMFD, PEERCOLL_SHARE_SHM};
}

}  // namespace

SegmentOffer offer_segment(std::size_t ranks, SegmentKind wanted, std::uint64_t wanted_size, bool namespaces_shared,
                           peercoll_share_t& share, std::string& reason) {
    const std::uint64_t least = SegmentLayout::minimum_budget(ranks);
    const std::uint64_t first =
        std::max<std::uint64_t>(least, wanted_size != 0 ? wanted_size : SegmentLayout::default_budget(ranks));
    std::string refusal;
    for (std::uint64_t budget = first;;) {
        for (const peercoll_share_kind_t kind : kinds_to_try(wanted, namespaces_shared)) {
            SegmentOffer offer{};
            peercoll_reason_t why{};
            const std::size_t bytes = SegmentLayout::make(ranks, budget).bytes;
            if (host_device().share_allocate(kind, bytes, &share, &offer.handle, &why) == PEERCOLL_SUCCESS) {
                auto* header = new (share.address) SegmentHeader{};
                header->magic = segment_magic;
                offer.budget = budget;
                if (budget != first)
                    reason =
                        fmt::format("the shared segment is {} KiB instead of {} KiB, large messages may be slower: {}",
                                    bytes / 1024, SegmentLayout::make(ranks, first).bytes / 1024, refusal);
                return offer;
            }
            refusal = why.text;
        }
        if (budget == least) break;
        budget = std::max(least, budget / 2);
    }
    reason = refusal;
    return {};
}

bool attach_segment(const SegmentOffer& offer, std::size_t ranks, peercoll_share_t& share, std::string& reason) {
    if (offer.budget > (std::uint64_t{1} << 40) ||
        SegmentLayout::make(ranks, offer.budget).bytes != offer.handle.bytes) {
        reason = "the offered segment has a wrong size";
        return false;
    }
    peercoll_reason_t why{};
    if (host_device().share_attach(&offer.handle, &share, &why) != PEERCOLL_SUCCESS) {
        reason = why.text;
        return false;
    }
    if (static_cast<const SegmentHeader*>(share.address)->magic != segment_magic) {
        reason = "the offered segment is not one of peercoll's";
        return false;
    }
    return true;
}

}  // namespace peercoll
