// SPDX-License-Identifier: BSD-3-Clause
// Two-shot packets: reduce-scatter and allgather in cache lines that carry their own flags.
//
// When: small messages of many ranks, between packets, where every rank reads every message whole, and staged, whose
// two meetings cost more than these lines.
//
//   shot 1   rank r writes slice q of its source into lines for q alone; q folds what all wrote for it
//   shot 2   q writes its slice of the result into lines for all; everybody reads all results
//
//          for 0   for 1   for 2                     all read
//   r0       -     [x|s]   [x|s]    --->   r0  fold  [y|s]
//   r1     [x|s]     -     [x|s]           r1  fold  [y|s]
//   r2     [x|s]   [x|s]     -             r2  fold  [y|s]
//
// Cost per rank: p-1 slices read in each shot, where packets read p-1 messages; two transfers in a row, no meeting and
// no second transfer for a flag. Lines with flags are NCCL's LL128 idea, here 64 bytes that one core writes whole.
#include "collectives/allreduce/two_shot_packets.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

namespace {

// In elements: slices are not cut in the middle of a vector register of 16 bytes.
std::size_t granule_of(std::size_t element_bytes) {
    return std::max<std::size_t>(1, 16 / element_bytes);
}

std::size_t lines_of_longest(std::size_t count, std::size_t element_bytes, int ranks) {
    const std::size_t per_line = packet_payload / element_bytes;
    const std::size_t granule = granule_of(element_bytes);
    const std::size_t granules = (count + granule - 1) / granule;
    const auto parts = static_cast<std::size_t>(ranks);
    const std::size_t longest = (granules + parts - 1) / parts * granule;
    return (longest + per_line - 1) / per_line;
}

}  // namespace

bool AllreduceTwoShotPackets::takes(const HostTeam& team, std::size_t count, std::size_t element_bytes) {
    return element_bytes <= packet_payload && count <= packet_ring_lines * packet_payload &&
           HostTeam::packet_fits_twice(lines_of_longest(count, element_bytes, team.size()) *
                                       static_cast<std::size_t>(team.size()));
}

AllreduceTwoShotPackets::AllreduceTwoShotPackets(HostTeam& team, const AllreduceArguments& arguments)
    : team_(&team),
      arguments_(arguments),
      per_line_(packet_payload / arguments.element_bytes),
      lines_a_slice_(lines_of_longest(arguments.count, arguments.element_bytes, team.size())) {}

Slice AllreduceTwoShotPackets::slice(int rank) const {
    return slice_of(arguments_.count, static_cast<std::size_t>(team_->size()), static_cast<std::size_t>(rank),
                    granule_of(arguments_.element_bytes));
}

bool AllreduceTwoShotPackets::send() {
    const std::size_t lines_taken = lines_a_slice_ * static_cast<std::size_t>(team_->size());
    if (!team_->all_reached(team_->packet_free_at(first_, lines_taken))) return false;
    team_->set_packet_free_at(first_, lines_taken, step_);
    const std::size_t element = arguments_.element_bytes;
    for (int i = 1; i < team_->size(); ++i) {
        const int peer = (team_->rank() + i) % team_->size();  // everybody begins with another one
        PacketLine* line = lines(team_->rank(), peer);
        const Slice theirs = slice(peer);
        for (std::size_t at = theirs.begin; at < theirs.end; at += per_line_, ++line)
            write_packet(line, arguments_.source + at * element, std::min(per_line_, theirs.end - at) * element, step_);
    }
    return true;
}

void AllreduceTwoShotPackets::reduce() {
    const std::size_t element = arguments_.element_bytes;
    const Slice own = slice(team_->rank());
    PacketLine* result = lines(team_->rank(), team_->rank());
    const void** const inputs = team_->inputs();
    std::size_t line = 0;
    for (std::size_t at = own.begin; at < own.end; at += per_line_, ++line) {
        const std::size_t now = std::min(per_line_, own.end - at);
        for (int peer = 0; peer < team_->size(); ++peer) inputs[peer] = lines(peer, team_->rank())[line].payload;
        inputs[team_->rank()] = arguments_.source + at * element;
        std::byte* const destination = arguments_.destination + at * element;
        arguments_.plan->evaluate(arguments_.fold, element, destination, inputs, now);
        write_packet(result + line, destination, now * element, step_);
    }
}

bool AllreduceTwoShotPackets::gather() {
    const std::size_t element = arguments_.element_bytes;
    for (; cursor_ < team_->size(); ++cursor_) {
        const int peer = (team_->rank() + cursor_) % team_->size();
        const PacketLine* line = lines(peer, peer);
        const Slice theirs = slice(peer);
        if (theirs.count() == 0) continue;
        if (!packet_has_come(line, lines_of(theirs), step_)) return false;
        for (std::size_t at = theirs.begin; at < theirs.end; at += per_line_, ++line)
            read_packet(line, arguments_.destination + at * element, std::min(per_line_, theirs.end - at) * element);
    }
    return true;
}

Progress AllreduceTwoShotPackets::progress() {
    switch (stage_) {
        case Stage::Begin:
            step_ = team_->begin(1) + 1;
            first_ = team_->take_packet_in_turn(lines_a_slice_ * static_cast<std::size_t>(team_->size()));
            stage_ = Stage::Send;
            [[fallthrough]];
        case Stage::Send:
            if (!send()) return Progress::Pending;
            stage_ = Stage::Reduce;
            [[fallthrough]];
        case Stage::Reduce: {
            const std::size_t own_lines = lines_of(slice(team_->rank()));
            for (; own_lines > 0 && cursor_ < team_->size(); ++cursor_)
                if (cursor_ != team_->rank() && !packet_has_come(lines(cursor_, team_->rank()), own_lines, step_))
                    return Progress::Pending;
            reduce();
            cursor_ = 1;  // behind its own
            stage_ = Stage::Gather;
            [[fallthrough]];
        }
        case Stage::Gather:
            if (!gather()) return Progress::Pending;
    }
    team_->publish(step_);
    // Who has a result has heard from all, so everybody has begun this one and ended the one before.
    team_->raise_floor(step_ - 1);
    team_->own_packet_of_next_turn(lines_a_slice_ * static_cast<std::size_t>(team_->size()));
    return Progress::Done;
}

}  // namespace peercoll
