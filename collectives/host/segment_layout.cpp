// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/segment_layout.hpp"

#include <algorithm>

namespace peercoll {

namespace {
constexpr std::size_t page = 4096;
constexpr std::size_t page_up(std::size_t bytes) {
    return (bytes + page - 1) / page * page;
}
constexpr std::size_t packets_per_rank = packet_ring_lines * sizeof(PacketLine);
}  // namespace

SegmentLayout SegmentLayout::make(std::size_t ranks, std::size_t budget) {
    SegmentLayout layout;
    layout.ranks = ranks;
    layout.clocks = sizeof(SegmentHeader);
    layout.arrivals = layout.clocks + ranks * sizeof(RankClock);
    layout.packets = page_up(layout.arrivals + ranks * sizeof(RankArrival));
    layout.staging = layout.packets + ranks * packets_per_rank;
    const std::size_t rest = budget > layout.staging ? (budget - layout.staging) / ranks : 0;
    layout.staging_per_rank = std::max(page, rest / page * page);
    layout.bytes = layout.staging + ranks * layout.staging_per_rank;
    return layout;
}

std::size_t SegmentLayout::minimum_budget(std::size_t ranks) {
    return make(ranks, 0).bytes;
}

}  // namespace peercoll
