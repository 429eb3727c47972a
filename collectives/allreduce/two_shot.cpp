// SPDX-License-Identifier: BSD-3-Clause
// Two-shot packets: reduce-scatter and allgather in cache lines that carry their own flags.
//
// When: small messages with many ranks, above what one-shot packets do quickly: up to 56 bytes x 4 lines x ranks.
//
//   shot 1   rank r writes slice q of its source into a line for q alone; q folds what all wrote for it
//   shot 2   q writes its slice of the result into a line for all; everybody reads all results
//
//          for 0   for 1   for 2                     all read
//   r0       -     [x|s]   [x|s]    --->   r0  fold  [y|s]
//   r1     [x|s]     -     [x|s]           r1  fold  [y|s]
//   r2     [x|s]   [x|s]     -             r2  fold  [y|s]
//
// Cost per rank: p-1 lines written and read in each shot, where one-shot reads p-1 whole messages; two transfers in a
// row, and no meeting. Shot 1's lines have one reader, so nobody contends for them.
#include "collectives/allreduce/two_shot.hpp"

#include "collectives/host/input_list.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

bool AllreduceTwoShot::takes(const HostTeam& team, std::size_t count, std::size_t element_bytes) {
    const auto size = static_cast<std::size_t>(team.size());
    return (count + size - 1) / size <= packet_payload / element_bytes * team.two_shot_lines();
}

Slice AllreduceTwoShot::slice(int rank) const {
    return slice_of(arguments_.count, static_cast<std::size_t>(team_->size()), static_cast<std::size_t>(rank), 1);
}

std::size_t AllreduceTwoShot::lines_of(int rank) const {
    return (slice(rank).count() + per_line_ - 1) / per_line_;
}

bool AllreduceTwoShot::has_come(const PacketLine* lines, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
        if (lines[i].step.load(std::memory_order_acquire) != step_) return false;
    return true;
}

bool AllreduceTwoShot::send() {
    if (!team_->all_reached(team_->two_shot_free_at(parity_))) return false;
    team_->two_shot_free_at(parity_) = step_;
    const std::size_t element = arguments_.element_bytes;
    for (int i = 1; i < team_->size(); ++i) {
        const int peer = (team_->rank() + i) % team_->size();
        PacketLine* line = team_->two_shot_slot(team_->rank(), peer, parity_);
        const Slice theirs = slice(peer);
        for (std::size_t at = theirs.begin; at < theirs.end; at += per_line_, ++line) {
            std::memcpy(line->payload, arguments_.source + at * element,
                        std::min(per_line_, theirs.end - at) * element);
            line->step.store(step_, std::memory_order_release);
        }
    }
    return true;
}

void AllreduceTwoShot::reduce() {
    const std::size_t element = arguments_.element_bytes;
    const auto size = static_cast<std::size_t>(team_->size());
    const Slice own = slice(team_->rank());
    PacketLine* result = team_->two_shot_slot(team_->rank(), team_->rank(), parity_);
    InputList inputs(size);
    std::size_t line = 0;
    for (std::size_t at = own.begin; at < own.end; at += per_line_, ++line) {
        const std::size_t now = std::min(per_line_, own.end - at);
        for (int peer = 0; peer < team_->size(); ++peer)
            inputs[static_cast<std::size_t>(peer)] = team_->two_shot_slot(peer, team_->rank(), parity_)[line].payload;
        inputs[static_cast<std::size_t>(team_->rank())] = arguments_.source + at * element;
        arguments_.plan->evaluate(arguments_.fold, element, result[line].payload, inputs.data(), now);
        result[line].step.store(step_, std::memory_order_release);
    }
}

Progress AllreduceTwoShot::progress() {
    switch (stage_) {
        case Stage::Begin:
            step_ = team_->begin(1) + 1;
            parity_ = team_->next_two_shot_parity();
            per_line_ = packet_payload / arguments_.element_bytes;
            stage_ = Stage::Send;
            [[fallthrough]];
        case Stage::Send:
            if (!send()) return Progress::Pending;
            stage_ = Stage::Reduce;
            [[fallthrough]];
        case Stage::Reduce:
            for (const std::size_t lines = lines_of(team_->rank()); cursor_ < team_->size(); ++cursor_)
                if (cursor_ != team_->rank() && !has_come(team_->two_shot_slot(cursor_, team_->rank(), parity_), lines))
                    return Progress::Pending;
            reduce();
            cursor_ = 0;
            stage_ = Stage::Gather;
            [[fallthrough]];
        case Stage::Gather:
            break;
    }
    for (; cursor_ < team_->size(); ++cursor_) {
        const int peer = (team_->rank() + cursor_) % team_->size();  // everybody starts elsewhere: with his own
        const PacketLine* line = team_->two_shot_slot(peer, peer, parity_);
        if (!has_come(line, lines_of(peer))) return Progress::Pending;
        const Slice theirs = slice(peer);
        for (std::size_t at = theirs.begin; at < theirs.end; at += per_line_, ++line)
            std::memcpy(arguments_.destination + at * arguments_.element_bytes, line->payload,
                        std::min(per_line_, theirs.end - at) * arguments_.element_bytes);
    }
    team_->publish(step_);
    team_->raise_floor(step_ - 1);  // everybody has begun this one, so has ended the one before
    return Progress::Done;
}

}  // namespace peercoll
