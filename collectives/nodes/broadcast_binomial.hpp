// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/nodes/broadcast_tree.hpp"

namespace peercoll {

BroadcastTree binomial_tree(int nodes, int node, int root);

}  // namespace peercoll
