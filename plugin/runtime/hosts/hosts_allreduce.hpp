// SPDX-License-Identifier: BSD-3-Clause
// An allreduce over several nodes, in chunks: R reduces inside the node, E exchanges between nodes, S spreads inside.
//
//   every rank      R01 R23 S0 S1 R45 S2 S3 ...       S(c) needs E(c)
//   rank 0              E0    E2 ...                  beside them, each chunk by the rank that owns it
//   rank 1              E1    E3 ...
//
// R is an allreduce of the node's ranks into their destinations, of a row of chunks, one of each rank that owns some:
// their exchanges are under way together, and the ranks meet less often. In rank order, where nothing may be folded
// yet, it brings every rank's chunk to the first one, which owns them all. The order of R and S is the same on all
// ranks, whatever E takes.
#pragma once

#include "collectives/host/chunks.hpp"
#include "collectives/nodes/chunk_share.hpp"
#include "collectives/nodes/exchange.hpp"
#include "collectives/task.hpp"
#include "plugin/common/status.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/hosts/hosts.hpp"
#include "plugin/runtime/node.hpp"
#include "plugin/runtime/operation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace peercoll {

class HostsAllreduce {
public:
    // All must outlive the object. `call.bytes()` > 0.
    HostsAllreduce(Hosts& hosts, Node& node, const Call& call);

    Progress progress();
    NodeAllreduce algorithm() const { return algorithm_; }
    // Whether more than one rank of the node spoke for it.
    bool is_shared() const { return share_.of > 1 && chunks_.size() > 1; }
    // Why it has failed, if it was between nodes.
    const Status& status() const { return status_; }

private:
    // What chunks c, c + slots_.size(), ... use in turn.
    struct Slot {
        std::optional<NodeExchange> exchange;
        std::unique_ptr<std::byte[]> scratch;
        std::unique_ptr<std::byte[]> inputs;  // in rank order: chunks of the node's other ranks
    };
    // The first chunk after the row that begins with `reduced_`.
    std::uint64_t end_of_row() const {
        return std::min(chunks_.size(), reduced_ + static_cast<std::uint64_t>(share_.of));
    }
    bool alone() const { return node_->team->size() == 1; }
    Slot& slot_of(std::uint64_t chunk) { return slots_[chunk % slots_.size()]; }
    std::size_t chunk_bytes(std::uint64_t chunk) const { return chunks_[chunk].count() * call_->element_bytes; }
    std::byte* destination_of(std::uint64_t chunk) const {
        return call_->destination + chunks_[chunk].begin * call_->element_bytes;
    }
    const std::byte* source_of(std::uint64_t chunk) const {
        return call_->source + chunks_[chunk].begin * call_->element_bytes;
    }
    bool advance_exchanges(bool& moved);
    // The next R or S; false if there is none to start now.
    bool start_next();
    void start_reducing();
    void start_bringing(Slot& slot);
    void start_spreading();
    void start_operation() { operation_.emplace(*node_->team, node_->agreed, node_->trials, part_); }
    void end_of_operation();
    void end_of_reducing();
    void start_exchange();

    Hosts* hosts_;
    Node* node_;
    const Call* call_;
    NodeAllreduce algorithm_;
    ChunkShare share_;
    Chunks chunks_;
    std::uint32_t sequence_;
    std::uint64_t reduced_ = 0;  // chunks
    std::uint64_t exchanged_ = 0;
    std::uint64_t spread_ = 0;
    int brought_ = 0;          // ranks of the node whose chunk is with the first one
    std::vector<Slot> slots_;  // as many as chunks may be reduced here and not yet spread
    Call part_;                // of operation_
    bool reducing_ = false;
    std::optional<Operation> operation_;
    Status status_;
};

}  // namespace peercoll
