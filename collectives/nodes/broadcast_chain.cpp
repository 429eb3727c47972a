// SPDX-License-Identifier: BSD-3-Clause
// Chain: each node sends every chunk on to the next one while it receives the one after it.
//
// When: messages of more chunks than there are nodes.
//
//   root -> root+1 -> root+2 -> ...
//
// Cost: (chunks + h - 2) steps of one chunk; n bytes received by each node but the root, n sent by each but the last.
#include "collectives/nodes/broadcast_chain.hpp"

namespace peercoll {

BroadcastTree chain(int nodes, int node, int root) {
    BroadcastTree tree;
    if (node != root) tree.parent = (node + nodes - 1) % nodes;
    if (const int next = (node + 1) % nodes; next != root) tree.children.push_back(next);
    return tree;
}

}  // namespace peercoll
