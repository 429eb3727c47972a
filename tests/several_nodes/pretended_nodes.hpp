// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks that take themselves for being on several nodes: each node has a /dev/shm of its own, which is what
// tells nodes apart. Messages between them go over UCX on this machine.
#pragma once

#include "tests/support/process_group.hpp"

#include <string>
#include <vector>

namespace peercoll::test {

// The ranks on each node, by the node each rank is on.
std::vector<std::vector<int>> ranks_of_nodes(const std::vector<int>& node_of);

// Why there can be no such group here; "" if there can.
std::string why_no_nodes();

// Runs `function` on node_of.size() ranks, rank r on node node_of[r].
void run_nodes(const std::vector<int>& node_of, const RankFunction& function, GroupRules rules = {});

}  // namespace peercoll::test
