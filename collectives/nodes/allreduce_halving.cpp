// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving and doubling between nodes: two neighbours share out what they are to reduce, half each, then
// quarters with the next neighbour; at the end each node has a part of the result, and the way back puts the parts
// together.
//
// When: large messages between many nodes, if their number is a power of two.
//
//   4 nodes, parts abcd:   0<->1  halves (ab)(cd)    0<->2, 1<->3  quarters    then back: quarters, halves
//
// Distance 1, 2, 4 ..., so that the expression is NodeTree's.
// Cost per node: 2 log2(h) rounds of one message each way; 2 n (h-1)/h bytes sent, the optimum; n (h-1)/h folded.
// Source: R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, 2005.
#include "collectives/nodes/allreduce_halving.hpp"

#include "collectives/nodes/node_tree.hpp"

namespace peercoll::nodes_halving {

namespace {

// What `node` still reduces after `levels` halvings; bit k of the node says which half of the k-th it keeps.
Slice kept(const NodeShare& share, int node, int levels) {
    Slice range = share.whole();
    for (int level = 0; level < levels; ++level) {
        const Slice lower = slice_of(range.count(), 2, 0, share.granule);
        const std::size_t middle = range.begin + lower.end;
        if ((node >> level & 1) == 0)
            range.end = middle;
        else
            range.begin = middle;
    }
    return range;
}

}  // namespace

bool takes(int nodes) {
    return NodeTree(nodes).pairs() == 0;
}

int rounds(const NodeShare& share) {
    return 2 * NodeTree(share.nodes).levels();
}

Round round(const NodeShare& share, int number) {
    const int levels = NodeTree(share.nodes).levels();
    Round round;
    const PlacedAt result{Place::Result, 0};
    const PlacedAt scratch{Place::Scratch, 0};
    if (number < levels) {
        const int other = share.node ^ (1 << number);
        const Slice mine = kept(share, share.node, number + 1);
        const Slice theirs = kept(share, other, number + 1);
        if (mine.count() > 0) {
            round.receives.push_back({other, mine, scratch});
            if (share.node < other)
                round.combines.push_back({mine, {result, scratch}});
            else
                round.combines.push_back({mine, {scratch, result}});
        }
        if (theirs.count() > 0) round.sends.push_back({other, theirs, result});
        return round;
    }
    const int level = 2 * levels - 1 - number;
    const int other = share.node ^ (1 << level);
    const Slice mine = kept(share, share.node, level + 1);
    const Slice theirs = kept(share, other, level + 1);
    if (theirs.count() > 0) round.receives.push_back({other, theirs, result});
    if (mine.count() > 0) round.sends.push_back({other, mine, result});
    return round;
}

std::size_t scratch(const NodeShare& share) {
    return share.nodes > 1 ? kept(share, share.node, 1).count() : 0;
}

}  // namespace peercoll::nodes_halving
