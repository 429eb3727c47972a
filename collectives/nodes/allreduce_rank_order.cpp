// SPDX-License-Identifier: BSD-3-Clause
// Rank order between nodes: each node gets its slice of every single rank's contribution, and folds them from rank 0 to
// the last, as one node alone would.
//
// When: option order=rank, and operations that do not commute where the nodes' ranks are interleaved.
//
//   ranks 0 2 on node 0, 1 3 on node 1, slices ab:   1 --x1 a, x3 a--> 0 --x0 b, x2 b--> 1     fold     then as in
//   direct
//
// Cost per node with p of the P ranks: 2 rounds; p n (h-1)/h + n (h-1)/h bytes sent. That gives up the optimum, by p+1
// to 2: a sum in rank order cannot be begun inside a node whose ranks do not follow each other.
#include "collectives/nodes/allreduce_rank_order.hpp"

#include "collectives/nodes/allreduce_direct.hpp"

#include <algorithm>

namespace peercoll::nodes_rank_order {

namespace {

std::size_t ranks_of(const NodeShare& share) {
    std::size_t ranks = 0;
    for (const std::vector<int>& of_node : *share.ranks) ranks += of_node.size();
    return ranks;
}

}  // namespace

Round round(const NodeShare& share, int number) {
    if (number == 1) return nodes_direct::hand_out(share);
    const std::vector<std::vector<int>>& ranks = *share.ranks;
    const std::vector<int>& own = ranks[static_cast<std::size_t>(share.node)];
    const Slice mine = share.slice(share.node);
    Round round;
    Combine combine{mine, std::vector<PlacedAt>(ranks_of(share)), true};
    for (std::size_t i = 0; i < own.size(); ++i) combine.inputs[static_cast<std::size_t>(own[i])] = {Place::Input, i};
    std::size_t next = 0;
    for (int i = 1; i < share.nodes; ++i) {
        const int to = (share.node + i) % share.nodes;
        const int from = (share.node + share.nodes - i) % share.nodes;
        for (const int rank : ranks[static_cast<std::size_t>(from)]) {
            const PlacedAt there{Place::Scratch, next++ * mine.count()};
            combine.inputs[static_cast<std::size_t>(rank)] = there;
            if (mine.count() > 0) round.receives.push_back({from, mine, there});
        }
        const Slice theirs = share.slice(to);
        for (std::size_t input = 0; input < own.size() && theirs.count() > 0; ++input)
            round.sends.push_back({to, theirs, {Place::Input, input}});
    }
    if (mine.count() > 0) round.combines.push_back(std::move(combine));
    return round;
}

std::size_t scratch(const NodeShare& share) {
    const std::size_t own = (*share.ranks)[static_cast<std::size_t>(share.node)].size();
    return (ranks_of(share) - own) * share.slice(share.node).count();
}

}  // namespace peercoll::nodes_rank_order
