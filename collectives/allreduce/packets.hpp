// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/packet_lines.hpp"
#include "collectives/task.hpp"

namespace peercoll {

// Inline, but for what longer messages need: the rest of a tiny call takes no longer than a few function calls.
class AllreducePackets {
public:
    AllreducePackets(HostTeam& team, const AllreduceArguments& arguments)
        : team_(&team), arguments_(arguments), lines_(packet_lines_of(arguments.bytes())) {}
    Progress progress() {
        if (!sent_ && !send()) return Progress::Pending;
        for (; cursor_ < team_->size(); ++cursor_) {
            const PacketLine* line = team_->packet(team_->further_on(cursor_), first_);
            if (!packet_has_come(line, lines_, step_)) return Progress::Pending;
            packet_soon(line, lines_);
        }
        fold();
        return Progress::Done;
    }
    static bool takes(std::size_t bytes) { return bytes <= packet_max_bytes; }

private:
    bool send() {
        if (step_ == 0) {
            step_ = team_->begin(1) + 1;
            first_ = team_->take_packet(lines_);
        }
        if (!team_->all_reached(team_->packet_free_at(first_, lines_))) return false;
        team_->set_packet_free_at(first_, lines_, step_);
        write_packet(team_->own_packet(first_), arguments_.source, arguments_.bytes(), step_);
        team_->own_packet_soon(first_, lines_);
        sent_ = true;
        return true;
    }
    void fold() {
        if (lines_ == 1)
            fold_line(0, arguments_.count);
        else
            fold_lines();
        team_->publish(step_);
        team_->raise_floor(step_ - 1);  // everybody has begun this one, so has ended the one before
    }
    void fold_line(std::size_t index, std::size_t count) const {
        const void** const inputs = team_->inputs();
        const PacketLine* line = team_->packet(0, first_ + index);
        for (int rank = 0; rank < team_->size(); ++rank, line += packet_ring_lines) inputs[rank] = line->payload;
        arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes,
                                  arguments_.destination + index * packet_payload, inputs, count);
    }
    void fold_lines() const;
    void fold_unpacked() const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    std::size_t lines_;
    std::uint64_t step_ = 0;   // 0: not begun
    std::uint64_t first_ = 0;  // line
    int cursor_ = 1;           // how far from this rank the first one is that has not been heard
    bool sent_ = false;
};

}  // namespace peercoll
