// SPDX-License-Identifier: BSD-3-Clause
// Packets: broadcast of tiny messages; the data carries its own flag.
//
// When: the tiniest messages; at most 1064 bytes (19 lines of 56 bytes).
//
//   root: [data|step] into its packet lines       others: read them when its steps are right
//
// Cost: one store; one cache-line transfer to each reader. The root returns at once and may be up to 76 messages ahead
// before it looks at the readers' clocks.
#pragma once

#include "collectives/broadcast/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/packet_lines.hpp"
#include "collectives/task.hpp"

namespace peercoll {

// Inline, because a tiny call takes no longer than a few function calls.
class BroadcastPackets {
public:
    BroadcastPackets(HostTeam& team, const BroadcastArguments& arguments)
        : team_(&team), arguments_(arguments), lines_(packet_lines_of(arguments.bytes)) {}
    Progress progress() {
        if (step_ == 0) {
            step_ = team_->begin(1) + 1;
            first_ = team_->take_packet(lines_);
        }
        const Progress state = team_->rank() == arguments_.root ? send() : receive();
        if (state == Progress::Done) team_->publish(step_);
        return state;
    }
    static bool takes(std::size_t bytes) { return bytes <= packet_max_bytes; }

private:
    Progress send() {
        if (!team_->all_reached(team_->packet_free_at(first_, lines_))) return Progress::Pending;
        team_->set_packet_free_at(first_, lines_, step_);
        write_packet(team_->own_packet(first_), arguments_.buffer, arguments_.bytes, step_);
        team_->own_packet_soon(first_, lines_);
        return Progress::Done;
    }
    Progress receive() {
        const PacketLine* line = team_->packet(arguments_.root, first_);
        if (!packet_has_come(line, lines_, step_)) {
            waited_ = true;
            return Progress::Pending;
        }
        // A message that was there already says that the root is ahead: then the next one is there too, or soon.
        if (!waited_) team_->read_packet_soon(arguments_.root, first_, lines_);
        read_packet(line, arguments_.buffer, arguments_.bytes);
        return Progress::Done;
    }

    HostTeam* team_;
    BroadcastArguments arguments_;
    std::size_t lines_;
    std::uint64_t step_ = 0;   // 0: not begun
    std::uint64_t first_ = 0;  // line
    bool waited_ = false;
};

}  // namespace peercoll
