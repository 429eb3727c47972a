// SPDX-License-Identifier: BSD-3-Clause
// A broadcast over several nodes, in chunks: the root's node spreads a chunk inside, the rank that owns it sends it
// on to its like on other nodes while the next chunk is spread, and those forward it and spread it.
#pragma once

#include "collectives/host/chunks.hpp"
#include "collectives/nodes/chunk_share.hpp"
#include "collectives/nodes/forwarding.hpp"
#include "collectives/task.hpp"
#include "plugin/common/status.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/hosts/hosts.hpp"
#include "plugin/runtime/node.hpp"
#include "plugin/runtime/operation.hpp"

#include <cstdint>
#include <optional>

namespace peercoll {

class HostsBroadcast {
public:
    // All must outlive the object. `call.bytes()` > 0.
    HostsBroadcast(Hosts& hosts, Node& node, const Call& call);

    Progress progress();
    NodeBroadcast algorithm() const { return algorithm_; }
    // Whether more than one rank of the node spoke for it.
    bool is_shared() const { return share_.of > 1 && chunks_.size() > 1; }
    // Why it has failed, if it was between nodes.
    const Status& status() const { return status_; }

private:
    bool on_root_node() const { return hosts_->node == root_node_; }
    bool is_root() const { return on_root_node() && local_root_ == node_->team->rank(); }
    // Whether this rank has the next chunk to spread, or gets it by spreading.
    bool may_spread() const;
    void start_spreading();
    bool advance_forwarding(bool& moved);

    Hosts* hosts_;
    Node* node_;
    const Call* call_;
    NodeBroadcast algorithm_;
    int root_node_;
    int local_root_;    // the root's number in its node
    int first_owner_;   // the number of the ranks that own chunk 0; the turns go on from there
    ChunkShare share_;  // this rank's turn
    Chunks chunks_;
    std::optional<NodeForwarding> forwarding_;  // of ranks that own chunks; none: over, or never begun
    std::uint64_t received_ = 0;                // this rank's chunks that other nodes have sent
    std::uint64_t spread_ = 0;
    Call part_;
    std::optional<Operation> operation_;
    Status status_;
};

}  // namespace peercoll
