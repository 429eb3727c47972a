// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/packet_lines.hpp"
#include "collectives/host/slices.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreduceTwoShotPackets {
public:
    AllreduceTwoShotPackets(HostTeam& team, const AllreduceArguments& arguments);
    Progress progress();
    // Whether the lines of all slices fit twice into a rank's ring.
    static bool takes(const HostTeam& team, std::size_t count, std::size_t element_bytes);

private:
    enum class Stage : std::uint8_t { Begin, Send, Reduce, Gather };
    Slice slice(int rank) const;
    std::size_t lines_of(const Slice& slice) const { return (slice.count() + per_line_ - 1) / per_line_; }
    // What `rank` wrote for `reader`; for itself: its slice of the result.
    PacketLine* lines(int rank, int reader) const {
        return team_->packet(rank, first_ + static_cast<std::uint64_t>(reader) * lines_a_slice_);
    }
    bool send();
    void reduce();
    bool gather();

    HostTeam* team_;
    AllreduceArguments arguments_;
    std::size_t per_line_;           // elements
    std::size_t lines_a_slice_ = 0;  // of the longest
    std::uint64_t step_ = 0;
    std::uint64_t first_ = 0;  // line
    int cursor_ = 0;
    Stage stage_ = Stage::Begin;
};

}  // namespace peercoll
