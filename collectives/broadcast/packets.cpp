// SPDX-License-Identifier: BSD-3-Clause
// Packets: broadcast of tiny messages; the data carries its own flag.
//
// When: up to 1064 bytes (19 lines of 56 bytes).
//
//   root: [data|step] into its packet lines       others: read them when its steps are right
//
// Cost: one store; one cache-line transfer to each reader. The root returns at once and may be up to 76 messages ahead
// before it looks at the readers' clocks.
#include "collectives/broadcast/packets.hpp"

#include "collectives/host/packet_lines.hpp"

namespace peercoll {

Progress BroadcastPackets::send() {
    const std::size_t lines = packet_lines_of(arguments_.bytes);
    if (!team_->all_reached(team_->packet_free_at(first_, lines))) return Progress::Pending;
    team_->set_packet_free_at(first_, lines, step_);
    write_packet(team_->packet(team_->rank(), first_), arguments_.buffer, arguments_.bytes, step_);
    team_->own_packet_soon(first_, lines);
    return Progress::Done;
}

Progress BroadcastPackets::receive() {
    const PacketLine* line = team_->packet(arguments_.root, first_);
    const std::size_t lines = packet_lines_of(arguments_.bytes);
    if (!packet_has_come(line, lines, step_)) {
        waited_ = true;
        return Progress::Pending;
    }
    // A message that was there already says that the root is ahead: then the next one is there too, or soon.
    if (!waited_) team_->read_packet_soon(arguments_.root, first_, lines);
    read_packet(line, arguments_.buffer, arguments_.bytes);
    return Progress::Done;
}

Progress BroadcastPackets::progress() {
    if (!begun_) {
        step_ = team_->begin(1) + 1;
        first_ = team_->take_packet(packet_lines_of(arguments_.bytes));
        begun_ = true;
    }
    const Progress state = team_->rank() == arguments_.root ? send() : receive();
    if (state == Progress::Done) team_->publish(step_);
    return state;
}

}  // namespace peercoll
