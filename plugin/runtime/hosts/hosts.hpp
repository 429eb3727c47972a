// SPDX-License-Identifier: BSD-3-Clause
// Hosts: what a communicator over several nodes knows beyond its own node. The first ranks of each node, as many as on
// all others, speak for it in turns (ChunkShare).
#pragma once

#include "collectives/nodes/select.hpp"
#include "plugin/runtime/hosts/wire_link.hpp"
#include "plugin/runtime/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peercoll {

struct Hosts {
    int node = 0;                          // this rank's
    std::vector<std::vector<int>> ranks;   // of each node, ascending
    std::vector<int> node_of;              // by rank
    bool rank_order = false;               // option order=rank
    bool keeps_rank_order = false;         // reading the nodes one after another gives 0, 1, 2, ...
    std::string transport;                 // for people: "UCX 1.13.1 (host memory)"
    int wire_ranks = 1;                    // of each node, that speak for it
    std::unique_ptr<WireLink> link;        // of those, to the ranks of the same number in their nodes; null on others
    bool late_connected = false;           // LateConnections has been run; the same on all ranks
    std::uint32_t sequence = 0;            // of the next exchange; the same on all nodes
    std::vector<LocalCounter> allreduces;  // by schedule
    std::vector<LocalCounter> broadcasts;
    LocalCounter shared_allreduces;  // in which more than one rank of each node spoke for it
    LocalCounter shared_broadcasts;
    LocalCounter unsettled;  // calls that ended while something they had sent still needed this process to leave it

    int nodes() const { return static_cast<int>(ranks.size()); }
    bool speaks() const { return link != nullptr; }
    const std::vector<int>& own_ranks() const { return ranks[static_cast<std::size_t>(node)]; }
    // The number of `rank` in its node.
    int local_number(int rank) const;
    std::uint32_t take_sequences(std::uint64_t exchanges) {
        const std::uint32_t first = sequence;
        sequence += static_cast<std::uint32_t>(exchanges);
        return first;
    }
    std::vector<std::string> describe() const;
};

}  // namespace peercoll
