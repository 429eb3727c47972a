// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/nodes/rounds.hpp"

#include <cstddef>

namespace peercoll::nodes_rank_order {

constexpr int rounds = 2;
// Needs `share.ranks`. Round 0 sends Input 0, 1, ...: the contributions of this node's ranks.
Round round(const NodeShare& share, int number);
std::size_t scratch(const NodeShare& share);  // elements

}  // namespace peercoll::nodes_rank_order
