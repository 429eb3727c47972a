// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/hosts_broadcast.hpp"

#include "collectives/nodes/broadcast_binomial.hpp"
#include "collectives/nodes/broadcast_chain.hpp"

namespace peercoll {

namespace {

// The root goes first, so that a small message goes straight to the wire, if it is one of those who take turns.
ChunkShare share_of(int rank, int first_owner, int wire_ranks) {
    return {rank < wire_ranks ? (rank + wire_ranks - first_owner) % wire_ranks : rank, wire_ranks};
}

}  // namespace

HostsBroadcast::HostsBroadcast(Hosts& hosts, Node& node, const Call& call)
    : hosts_(&hosts),
      node_(&node),
      call_(&call),
      algorithm_(select_node_broadcast({call.bytes(), hosts.nodes(), false})),
      root_node_(hosts.node_of[static_cast<std::size_t>(call.broadcast.root)]),
      local_root_(hosts.local_number(call.broadcast.root)),
      first_owner_(local_root_ < hosts.wire_ranks ? local_root_ : 0),
      share_(share_of(node.team->rank(), first_owner_, hosts.wire_ranks)),
      chunks_(call.bytes(), 1, node_message_bytes) {
    const std::uint32_t sequence = hosts.take_sequences(1);
    if (node.team->size() == 1) spread_ = chunks_.size();
    if (share_.count(chunks_.size()) == 0) return;
    const BroadcastTree tree = algorithm_ == NodeBroadcast::Chain
                                   ? chain(hosts.nodes(), hosts.node, root_node_)
                                   : binomial_tree(hosts.nodes(), hosts.node, root_node_);
    forwarding_.emplace(*hosts.link, tree, sequence, call.broadcast.buffer, chunks_, share_);
    if (is_root()) forwarding_->offer(chunks_.size());
}

bool HostsBroadcast::may_spread() const {
    if (spread_ == chunks_.size()) return false;
    return on_root_node() || !share_.owns(spread_) || share_.count(spread_) < received_;
}

void HostsBroadcast::start_spreading() {
    part_ = *call_;
    part_.broadcast = {call_->broadcast.buffer + chunks_[spread_].begin, chunks_[spread_].count(),
                       on_root_node() ? local_root_ : (share_.owner_of(spread_) + first_owner_) % share_.of};
    operation_.emplace(*node_->team, node_->agreed, node_->trials, part_);
}

bool HostsBroadcast::advance_forwarding(bool& moved) {
    if (!forwarding_) return true;
    if (on_root_node() && !is_root()) forwarding_->offer(spread_);
    const Progress state = forwarding_->progress();
    if (state == Progress::Failed) {
        status_ = hosts_->link->status();
        return false;
    }
    moved |= state != Progress::Pending;
    received_ = forwarding_->available();
    if (state == Progress::Done) forwarding_.reset();
    return true;
}

Progress HostsBroadcast::progress() {
    bool moved = false;
    if (!advance_forwarding(moved)) return Progress::Failed;
    if (operation_) {
        const Progress state = operation_->progress();
        if (state == Progress::Failed) return state;
        moved |= state != Progress::Pending;
        if (state == Progress::Done) {
            operation_.reset();
            ++spread_;
        }
    } else if (may_spread()) {
        start_spreading();
        moved = true;
    }
    if (spread_ == chunks_.size() && !forwarding_) return Progress::Done;
    return moved ? Progress::Advanced : Progress::Pending;
}

}  // namespace peercoll
