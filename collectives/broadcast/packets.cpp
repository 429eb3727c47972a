// SPDX-License-Identifier: BSD-3-Clause
// Packets: broadcast of tiny messages; the data carries its own flag.
//
// When: up to 448 bytes (8 lines of 56 bytes).
//
//   root: [data|step] into its packet slot        others: read the slot when its steps are right
//
// Cost: one store; one cache-line transfer to each reader. The root returns at once and may be eight messages ahead
// before it looks at the readers' clocks.
#include "collectives/broadcast/packets.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

Progress BroadcastPackets::send() {
    std::uint64_t& free_at = team_->packet_slot_free_at(slot_);
    if (!team_->all_reached(free_at)) return Progress::Pending;
    free_at = step_;
    PacketLine* line = team_->packet_slot(team_->rank(), slot_);
    for (std::size_t done = 0; done < arguments_.bytes; done += packet_payload, ++line) {
        std::memcpy(line->payload, arguments_.buffer + done, std::min(packet_payload, arguments_.bytes - done));
        line->step.store(step_, std::memory_order_release);
    }
    team_->own_packet_slot_soon(slot_ + 2, line - team_->packet_slot(team_->rank(), slot_));
    return Progress::Done;
}

Progress BroadcastPackets::receive() {
    const PacketLine* line = team_->packet_slot(arguments_.root, slot_);
    const std::size_t lines = (arguments_.bytes + packet_payload - 1) / packet_payload;
    for (std::size_t i = 0; i < lines; ++i) {
        if (line[i].step.load(std::memory_order_acquire) != step_) {
            waited_ = true;
            return Progress::Pending;
        }
    }
    // A message that was there already says that the root is ahead: then the next one is there too, or soon.
    if (!waited_) team_->read_packet_slot_soon(arguments_.root, slot_ + 1, lines);
    for (std::size_t done = 0; done < arguments_.bytes; done += packet_payload, ++line)
        std::memcpy(arguments_.buffer + done, line->payload, std::min(packet_payload, arguments_.bytes - done));
    return Progress::Done;
}

Progress BroadcastPackets::progress() {
    if (!begun_) {
        step_ = team_->begin(1) + 1;
        slot_ = team_->next_packet_slot();
        begun_ = true;
    }
    const Progress state = team_->rank() == arguments_.root ? send() : receive();
    if (state == Progress::Done) team_->publish(step_);
    return state;
}

}  // namespace peercoll
