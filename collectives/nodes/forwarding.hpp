// SPDX-License-Identifier: BSD-3-Clause
// NodeForwarding: one node's part of a broadcast between nodes: chunks come from the parent, or are there from the
// start, and go on to the children, in their order. A few are under way at a time. Of a message that several ranks of a
// node share, only this rank's chunks are meant.
#pragma once

#include "collectives/host/chunks.hpp"
#include "collectives/nodes/broadcast_tree.hpp"
#include "collectives/nodes/chunk_share.hpp"
#include "collectives/nodes/node_link.hpp"
#include "collectives/task.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace peercoll {

class NodeForwarding {
public:
    // `link` must outlive the object; `sequence` as for NodeExchange.
    NodeForwarding(NodeLink& link, BroadcastTree tree, std::uint32_t sequence, std::byte* buffer, const Chunks& chunks,
                   ChunkShare share = {})
        : link_(&link),
          tree_(std::move(tree)),
          sequence_(sequence),
          buffer_(buffer),
          chunks_(chunks),
          share_(share),
          own_(share.count(chunks.size())) {}
    ~NodeForwarding() { abandon(); }
    NodeForwarding(const NodeForwarding&) = delete;
    NodeForwarding& operator=(const NodeForwarding&) = delete;

    // At the root: of all chunks, those before this one are in the buffer.
    void offer(std::uint64_t chunks) { available_ = share_.count(chunks); }
    // This rank's chunks that are in the buffer, from its first on.
    std::uint64_t available() const { return available_; }
    Progress progress();

private:
    static constexpr std::uint64_t most_under_way = 8;
    struct Outstanding {
        int node;
        NodeLink::Ticket ticket;
    };
    Slice slice(std::uint64_t own) const { return chunks_[share_.chunk(own)]; }
    bool is_root() const { return tree_.parent < 0; }
    bool start(bool& moved);
    bool take_ended(bool& moved);
    void abandon() noexcept;

    NodeLink* link_;
    BroadcastTree tree_;
    std::uint32_t sequence_;
    std::byte* buffer_;
    Chunks chunks_;
    ChunkShare share_;
    std::uint64_t own_;  // chunks
    std::uint64_t available_ = 0;
    std::uint64_t awaited_ = 0;    // receives started
    std::uint64_t forwarded_ = 0;  // sends started to all children
    std::deque<Outstanding> receives_;
    std::deque<Outstanding> sends_;
};

}  // namespace peercoll
