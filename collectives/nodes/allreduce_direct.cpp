// SPDX-License-Identifier: BSD-3-Clause
// Direct reduce-scatter and allgather between nodes: each node gets its slice from all others at once, folds them, and
// sends the result to all.
//
// When: large messages, any number of nodes.
//
//   3 nodes, slices abc:   all --a--> 0   all --b--> 1   all --c--> 2     fold     0 --a--> all   1 --b--> all   2
//   --c--> all
//
// Each owner sees all inputs of its slice and evaluates NodeTree over them.
// Cost per node: 2 rounds of h-1 messages each way; 2 n (h-1)/h bytes sent, the optimum; n/h folded over h inputs.
#include "collectives/nodes/allreduce_direct.hpp"

namespace peercoll::nodes_direct {

Round hand_out(const NodeShare& share) {
    const PlacedAt result{Place::Result, 0};
    const Slice mine = share.slice(share.node);
    Round round;
    for (int i = 1; i < share.nodes; ++i) {
        // Everybody starts elsewhere, so that no node is sent to by all others at once.
        const int to = (share.node + i) % share.nodes;
        const int from = (share.node + share.nodes - i) % share.nodes;
        if (const Slice theirs = share.slice(from); theirs.count() > 0)
            round.receives.push_back({from, theirs, result});
        if (mine.count() > 0) round.sends.push_back({to, mine, result});
    }
    return round;
}

Round round(const NodeShare& share, int number) {
    if (number == 1) return hand_out(share);
    const PlacedAt result{Place::Result, 0};
    const Slice mine = share.slice(share.node);
    Round round;
    Combine combine{mine, std::vector<PlacedAt>(static_cast<std::size_t>(share.nodes))};
    combine.inputs[static_cast<std::size_t>(share.node)] = result;
    for (int i = 1; i < share.nodes; ++i) {
        const int to = (share.node + i) % share.nodes;
        const int from = (share.node + share.nodes - i) % share.nodes;
        const PlacedAt there{Place::Scratch, static_cast<std::size_t>(i - 1) * mine.count()};
        combine.inputs[static_cast<std::size_t>(from)] = there;
        if (mine.count() > 0) round.receives.push_back({from, mine, there});
        if (const Slice theirs = share.slice(to); theirs.count() > 0) round.sends.push_back({to, theirs, result});
    }
    if (mine.count() > 0) round.combines.push_back(std::move(combine));
    return round;
}

std::size_t scratch(const NodeShare& share) {
    return static_cast<std::size_t>(share.nodes - 1) * share.slice(share.node).count();
}

}  // namespace peercoll::nodes_direct
