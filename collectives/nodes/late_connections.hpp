// SPDX-License-Identifier: BSD-3-Clause
// LateConnections: a task that connects a node of many to those that the set-up has left out, before the first call
// that exchanges with all of them. It is part of that call, so each rank that speaks for a node comes to it.
//
// It ends. Batch k ends at a node when all its partners in k have settled there (LinkProof); they get to k because, one
// batch after another, their partners get there. Nobody leaves before every partner has settled with it, so nothing is
// under way afterwards that would need a rank that has left.
// Cost: of each node as many messages of 16 KiB as there are other nodes, and as many of a byte, once: about what one
// call of `direct` sends of them. 1 MiB of memory.
#pragma once

#include "collectives/nodes/link_proof.hpp"

#include <cstdint>
#include <optional>

namespace peercoll {

class LateConnections {
public:
    // `link` must outlive the object; as for NodeExchange, the sequences from `sequence` on, late_batches() of them.
    LateConnections(NodeLink& link, int nodes, int node, std::uint32_t sequence)
        : link_(&link), nodes_(nodes), node_(node), sequence_(sequence) {}

    Progress progress();
    // As LinkProof's, of the batch that is under way.
    int suspect() const { return proof_ ? proof_->suspect() : -1; }
    bool came_wrong() const { return proof_ && proof_->came_wrong(); }

private:
    NodeLink* link_;
    int nodes_;
    int node_;
    std::uint32_t sequence_;
    int batch_ = 0;
    std::optional<LinkProof> proof_;
};

}  // namespace peercoll
