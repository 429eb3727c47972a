// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/nodes/rounds.hpp"

#include <cstddef>

namespace peercoll::nodes_halving {

// Numbers of nodes that it serves.
bool takes(int nodes);
int rounds(const NodeShare& share);
Round round(const NodeShare& share, int number);
std::size_t scratch(const NodeShare& share);  // elements

}  // namespace peercoll::nodes_halving
