// SPDX-License-Identifier: BSD-3-Clause
// Where a node gets a broadcast from, and whom it sends it to.
#pragma once

#include <vector>

namespace peercoll {

struct BroadcastTree {
    int parent = -1;  // -1: the root
    std::vector<int> children;
};

}  // namespace peercoll
