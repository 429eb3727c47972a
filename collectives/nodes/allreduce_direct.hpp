// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/nodes/rounds.hpp"

#include <cstddef>

namespace peercoll::nodes_direct {

constexpr int rounds = 2;
Round round(const NodeShare& share, int number);
std::size_t scratch(const NodeShare& share);  // elements

// The second round, for all schedules in which each node has reduced its slice: everybody gets it.
Round hand_out(const NodeShare& share);

}  // namespace peercoll::nodes_direct
