// SPDX-License-Identifier: BSD-3-Clause
// Packets: one-shot allreduce for tiny messages; the data carries its own flag.
//
// When: the tiniest messages; at most 1064 bytes (19 lines of 56 bytes).
//
//   rank 0  [x0|step]  ---+--->  every rank reads every message as soon as its last line has the right step,
//   rank 1  [x1|step]  ---+       then folds all of them in the order of the plan
//   rank 2  [x2|step]  ---+
//
// Cost: one store and one cache-line transfer from each peer, all in flight together; no barrier, no second transfer
// for a flag. A line with a flag is NCCL's LL128 idea, here with a 64-byte line that one core writes whole.
#include "collectives/allreduce/packets.hpp"

#include <algorithm>

namespace peercoll {

// An element that lies in two lines has to be put together first.
void AllreducePackets::fold_lines() const {
    const std::size_t per_line = packet_payload / arguments_.element_bytes;
    if (per_line * arguments_.element_bytes != packet_payload) return fold_unpacked();
    std::size_t line = 0;
    for (std::size_t done = 0; done < arguments_.count; done += per_line, ++line)
        fold_line(line, std::min(per_line, arguments_.count - done));
}

void AllreducePackets::fold_unpacked() const {
    const auto size = static_cast<std::size_t>(team_->size());
    const void** const inputs = team_->inputs();
    std::byte* unpacked = team_->scratch(size * packet_max_bytes);
    const PacketLine* line = team_->packet(0, first_);
    for (std::size_t rank = 0; rank < size; ++rank, line += packet_ring_lines, unpacked += packet_max_bytes) {
        read_packet(line, unpacked, arguments_.bytes());
        inputs[rank] = unpacked;
    }
    arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes, arguments_.destination, inputs,
                              arguments_.count);
}

}  // namespace peercoll
