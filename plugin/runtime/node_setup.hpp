// SPDX-License-Identifier: BSD-3-Clause
// Node set-up: what the ranks of a communicator tell each other at its first collective, and the host team that comes
// of it.
//
//   round 1   who I am, where I may run, what my options say           --> nodes, groups, options (rank 0's count)
//             which pooled nodes I could go on with (node_pool.hpp)    --> one that all have: done
//   round 2   the first rank's shared segment; everybody's proof word  --> all map the segment, read each other's word
//   round 3   whether that worked                                      --> a team, or none, decided alike by all
//
// Ranks on several nodes: rounds 2 and 3 are made by each node alone, and more rounds follow (hosts/hosts_setup.hpp).
//
// Whatever fails on one rank is carried through all rounds and decided at their end; no rank ever leaves early.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/runtime/context.hpp"
#include "plugin/runtime/hosts/hosts.hpp"
#include "plugin/runtime/node.hpp"

#include <memory>

namespace peercoll {

// Collective over the communicator. PEERCOLL_ERR_NOT_SUPPORTED, alike on all ranks, if they cannot be one team; then
// nothing is left behind. PEERCOLL_ERR_CALLBACK if the caller's allgather failed. `hosts` is set if there are several
// nodes; `node` then is this rank's, and its team the ranks on it.
Status set_up_node(Context& context, const peercoll_comm_params_t& comm, Node& node, std::unique_ptr<Hosts>& hosts);

}  // namespace peercoll
