// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: whoever has the message sends it on, so that twice as many have it after each step.
//
// When: messages of few chunks.
//
//   8 nodes:   0 -> 4    0 -> 2, 4 -> 6    0 -> 1, 2 -> 3, 4 -> 5, 6 -> 7        (counted from the root)
//
// Cost: log2(h) steps; the root sends n log2(h) bytes, each other node receives n. The farthest child comes first.
#include "collectives/nodes/broadcast_binomial.hpp"

namespace peercoll {

BroadcastTree binomial_tree(int nodes, int node, int root) {
    const int self = (node + nodes - root) % nodes;
    const auto real = [&](int counted) { return (counted + root) % nodes; };
    BroadcastTree tree;
    int distance = 1;  // the lowest bit of `self`: its parent is that far away, its children nearer
    while (distance < nodes && (self & distance) == 0) distance *= 2;
    if (self != 0) tree.parent = real(self - distance);
    for (distance /= 2; distance > 0; distance /= 2)
        if (self + distance < nodes) tree.children.push_back(real(self + distance));
    return tree;
}

}  // namespace peercoll
