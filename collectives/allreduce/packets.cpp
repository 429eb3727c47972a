// SPDX-License-Identifier: BSD-3-Clause
// Packets: one-shot allreduce for tiny messages; the data carries its own flag.
//
// When: up to 1064 bytes (19 lines of 56 bytes).
//
//   rank 0  [x0|step]  ---+--->  every rank reads every line as soon as its step is right,
//   rank 1  [x1|step]  ---+       then folds all of them in the order of the plan
//   rank 2  [x2|step]  ---+
//
// Cost: one store and one cache-line transfer from each peer, all in flight together; no barrier, no second transfer
// for a flag. Line-with-flag packets are NCCL's LL128 idea, here with a 64-byte line that one core writes whole.
#include "collectives/allreduce/packets.hpp"

#include "collectives/host/input_list.hpp"
#include "collectives/host/packet_lines.hpp"

namespace peercoll {

bool AllreducePackets::send() {
    if (!begun_) {
        step_ = team_->begin(1) + 1;
        first_ = team_->take_packet(packet_lines_of(arguments_.bytes()));
        begun_ = true;
    }
    const std::size_t lines = packet_lines_of(arguments_.bytes());
    if (!team_->all_reached(team_->packet_free_at(first_, lines))) return false;
    team_->set_packet_free_at(first_, lines, step_);
    write_packet(team_->packet(team_->rank(), first_), arguments_.source, arguments_.bytes(), step_);
    team_->own_packet_soon(first_, lines);
    sent_ = true;
    return true;
}

void AllreducePackets::fold() {
    const std::size_t bytes = arguments_.bytes();
    const auto size = static_cast<std::size_t>(team_->size());
    InputList inputs(size);
    if (bytes <= packet_payload) {
        for (std::size_t r = 0; r < size; ++r) inputs[r] = team_->packet(static_cast<int>(r), first_)->payload;
    } else {
        std::byte* unpacked = team_->scratch(size * packet_max_bytes);
        for (std::size_t r = 0; r < size; ++r) {
            std::byte* to = unpacked + r * packet_max_bytes;
            inputs[r] = to;
            read_packet(team_->packet(static_cast<int>(r), first_), to, bytes);
        }
    }
    arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes, arguments_.destination, inputs.data(),
                              arguments_.count);
}

Progress AllreducePackets::progress() {
    if (!sent_ && !send()) return Progress::Pending;
    const std::size_t lines = packet_lines_of(arguments_.bytes());
    for (; cursor_ < team_->size(); ++cursor_)
        if (cursor_ != team_->rank() && !packet_has_come(team_->packet(cursor_, first_), lines, step_))
            return Progress::Pending;
    fold();
    team_->publish(step_);
    team_->raise_floor(step_ - 1);  // everybody has begun this one, so has ended the one before
    return Progress::Done;
}

}  // namespace peercoll
