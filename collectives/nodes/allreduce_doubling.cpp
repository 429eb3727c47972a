// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling between nodes: in each round two neighbours show each other all they have, and know twice as much.
//
// When: small messages, which cost by the round; any size between two nodes, where nothing sends less.
//
//   4 nodes:  0<->1  2<->3    then  0<->2  1<->3          distance 1, 2, 4 ...: the expression is NodeTree's
//   5 nodes:  1 ->0           then  the same among 0 2 3 4   then  0 ->1
//
// Cost per node: log2(h) rounds, two more if h is no power of two; n bytes sent, received and folded in each.
#include "collectives/nodes/allreduce_doubling.hpp"

#include "collectives/nodes/node_tree.hpp"

namespace peercoll::nodes_doubling {

int rounds(const NodeShare& share) {
    const NodeTree tree(share.nodes);
    return tree.levels() + (tree.pairs() > 0 ? 2 : 0);
}

Round round(const NodeShare& share, int number) {
    const NodeTree tree(share.nodes);
    const PlacedAt result{Place::Result, 0};
    const PlacedAt scratch{Place::Scratch, 0};
    Round round;
    const int before = tree.pairs() > 0 ? 1 : 0;
    if (number < before) {
        if (tree.is_second(share.node)) round.sends.push_back({share.node - 1, share.whole(), result});
        if (tree.is_first(share.node)) {
            round.receives.push_back({share.node + 1, share.whole(), scratch});
            round.combines.push_back({share.whole(), {result, scratch}});
        }
        return round;
    }
    const int level = number - before;
    if (level == tree.levels()) {
        if (tree.is_first(share.node)) round.sends.push_back({share.node + 1, share.whole(), result});
        if (tree.is_second(share.node)) round.receives.push_back({share.node - 1, share.whole(), result});
        return round;
    }
    if (tree.is_second(share.node)) return round;
    const int leaf = tree.leaf_of(share.node);
    const int other = leaf ^ (1 << level);
    round.receives.push_back({tree.node_of(other), share.whole(), scratch});
    round.sends.push_back({tree.node_of(other), share.whole(), result});
    if (leaf < other)
        round.combines.push_back({share.whole(), {result, scratch}});
    else
        round.combines.push_back({share.whole(), {scratch, result}});
    return round;
}

std::size_t scratch(const NodeShare& share) {
    return share.count;
}

}  // namespace peercoll::nodes_doubling
