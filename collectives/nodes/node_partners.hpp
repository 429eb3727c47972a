// SPDX-License-Identifier: BSD-3-Clause
// Which nodes a node exchanges messages with, by schedule. A connection is made and settled (LinkProof) before a
// collective may use it: while both sides open one they need each other's progress, and in a collective the other side
// may have left already.
//
//   broadcast (any root), halving   distances 1, 2, 4, ... on both sides
//   doubling                        those; where the nodes are no power of two, its leaves at those distances
//   direct, rank_order              all others
//
// Up to `most_nodes_in_full` nodes all pairs are connected when a communicator is set up; of more nodes those that grow
// with the logarithm, and the others before the first call that needs them (LateConnections).
#pragma once

#include "collectives/nodes/select.hpp"

#include <vector>

namespace peercoll {

// The rest of a set-up takes longer than so many connections of each node.
inline constexpr int most_nodes_in_full = 16;

// All lists are ascending; if a is a partner of b, so is b of a.
std::vector<int> set_up_partners(int nodes, int node);

bool needs_late_partners(NodeAllreduce algorithm, int nodes);
// Those that the set-up has left out come in batches, so that memory and messages under way do not grow with the nodes.
// A node's batch of one number has partners in theirs of the same number alone; some may be empty. All of them
// together, with those of the set-up: all nodes.
int late_batches(int nodes);
std::vector<int> late_partners(int nodes, int node, int batch);

}  // namespace peercoll
