// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/host_team.hpp"

#include <cstdlib>
#include <new>

namespace peercoll {

HostTeam::HostTeam(Parts parts)
    : parts_(std::move(parts)),
      clocks_(reinterpret_cast<RankClock*>(parts_.segment + parts_.layout.clocks)),
      arrivals_(reinterpret_cast<RankArrival*>(parts_.segment + parts_.layout.arrivals)),
      packets_(reinterpret_cast<PacketLine*>(parts_.segment + parts_.layout.packets)),
      own_packets_(packets_ + static_cast<std::size_t>(parts_.rank) * packet_ring_lines),
      staging_(parts_.segment + parts_.layout.staging),
      cell_bytes_(parts_.layout.staging_per_rank / cells),
      group_index_(static_cast<std::size_t>(parts_.size)),
      seen_(static_cast<std::size_t>(parts_.size)),
      inputs_(static_cast<std::size_t>(parts_.size)) {
    set_plan(std::move(parts_.plan), std::move(parts_.groups));
    // What AllreducePackets unpacks into; had here so that no collective fails for it.
    if (scratch(static_cast<std::size_t>(parts_.size) * packet_max_bytes) == nullptr) throw std::bad_alloc();
}

void HostTeam::set_plan(ReductionPlan plan, std::vector<std::vector<int>> groups) {
    parts_.plan = std::move(plan);
    parts_.groups = std::move(groups);
    for (std::size_t g = 0; g < parts_.groups.size(); ++g)
        for (const int rank : parts_.groups[g]) group_index_[static_cast<std::size_t>(rank)] = g;
}

bool HostTeam::look_at_clocks(std::uint64_t step) {
    if (awaited_ != step) {
        awaited_ = step;
        cursor_ = 1;
    }
    for (; cursor_ < parts_.size; ++cursor_)
        if (!has_reached(further_on(cursor_), step)) return false;
    floor_ = step;
    return true;
}

void HostTeam::FreeAligned::operator()(std::byte* memory) const noexcept {
    std::free(memory);
}

std::byte* HostTeam::larger_scratch(std::size_t bytes) noexcept {
    constexpr std::size_t page = 4096;
    const std::size_t rounded = (bytes + page - 1) / page * page;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
    if (memory == nullptr) return nullptr;
    scratch_.reset(memory);
    scratch_bytes_ = rounded;
    return scratch_.get();
}

}  // namespace peercoll
