// SPDX-License-Identifier: BSD-3-Clause
// Packets: one-shot allreduce for tiny messages; the data carries its own flag.
//
// When: the tiniest messages; at most 1064 bytes (19 lines of 56 bytes).
//
//   rank 0  [x0|step]  ---+--->  every rank reads every line as soon as its step is right,
//   rank 1  [x1|step]  ---+       then folds all of them in the order of the plan
//   rank 2  [x2|step]  ---+
//
// Cost: one store and one cache-line transfer from each peer, all in flight together; no barrier, no second transfer
// for a flag. Line-with-flag packets are NCCL's LL128 idea, here with a 64-byte line that one core writes whole.
#include "collectives/allreduce/packets.hpp"

namespace peercoll {

void AllreducePackets::unpack(const void** inputs) const {
    const auto size = static_cast<std::size_t>(team_->size());
    std::byte* unpacked = team_->scratch(size * packet_max_bytes);
    const PacketLine* line = team_->packet(0, first_);
    for (std::size_t rank = 0; rank < size; ++rank, line += packet_ring_lines, unpacked += packet_max_bytes) {
        read_packet(line, unpacked, arguments_.bytes());
        inputs[rank] = unpacked;
    }
}

}  // namespace peercoll
