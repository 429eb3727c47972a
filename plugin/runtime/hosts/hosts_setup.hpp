// SPDX-License-Identifier: BSD-3-Clause
// Setting up a communicator that spans nodes, after its first round (node_setup.hpp) has told so:
//
//   node rounds   each node among its ranks: as a communicator of one node (NodeGathers)
//   round         did that work; who speaks for a node: my wire, my number here
//   rounds        the wire addresses of those
//   round         do I know all the others
//   round         has the wire to them been proven; of many nodes, to some (wire_proof.hpp, node_partners.hpp)
//                 --> several hosts are served, or not, decided alike by all
//
// Per rank and communicator: about eight allgathers of half a KiB, and the addresses of some hundred bytes; it grows
// with the number of ranks, as every allgather does. Connections are made by the proof, and, of many nodes, by the
// first call in which all exchange with all (HostsCall).
#pragma once

#include "plugin/runtime/hosts/hosts.hpp"
#include "plugin/runtime/node_setup.hpp"

namespace peercoll {

// `share`: how many ranks speak for each node. Collective; the same answer on all ranks. PEERCOLL_ERR_NOT_SUPPORTED: a
// rank has no transport, and which.
Status set_up_hosts(Context& context, const peercoll_comm_params_t& comm, std::vector<int> node_of, bool rank_order,
                    WireShare share, Node& node, std::unique_ptr<Hosts>& hosts);

}  // namespace peercoll
