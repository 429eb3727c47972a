// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/hosts_allreduce.hpp"

#include <algorithm>
#include <utility>

namespace peercoll {

namespace {

// In rank order a chunk is kept once for each rank of the node, so it is smaller.
constexpr std::size_t least_chunk_bytes = std::size_t{64} << 10;

NodeAllreduce choose(const Hosts& hosts, const Call& call) {
    return select_node_allreduce(
        {call.bytes(), hosts.nodes(), hosts.rank_order || (!call.commutative && !hosts.keeps_rank_order)});
}

// The same on all ranks, so it may not depend on what one node has.
Chunks chunks_of(const Hosts& hosts, const Call& call, NodeAllreduce algorithm, int wire_ranks) {
    std::size_t bytes = node_chunk_bytes(algorithm, call.bytes(), wire_ranks, hosts.nodes());
    if (algorithm == NodeAllreduce::RankOrder) {
        std::size_t most = 1;
        for (const std::vector<int>& ranks : hosts.ranks) most = std::max(most, ranks.size());
        bytes = std::max(least_chunk_bytes, bytes / most);
    }
    return {call.count, call.element_bytes, bytes};
}

// While one row of chunks is on the wire, the next one is reduced; of chunks that go one by one, one is spread besides.
std::size_t most_under_way(int wire_ranks) {
    return std::max<std::size_t>(3, 2 * static_cast<std::size_t>(wire_ranks));
}

// What goes to the wire rank by rank comes from the first one.
ChunkShare share_of(const Hosts& hosts, const Node& node, NodeAllreduce algorithm) {
    return {node.team->rank(), algorithm == NodeAllreduce::RankOrder ? 1 : hosts.wire_ranks};
}

std::unique_ptr<std::byte[]> memory_of(std::size_t bytes) {
    return std::unique_ptr<std::byte[]>(new std::byte[bytes]);  // NOLINT: make_unique would write it all
}

}  // namespace

HostsAllreduce::HostsAllreduce(Hosts& hosts, Node& node, const Call& call)
    : hosts_(&hosts),
      node_(&node),
      call_(&call),
      algorithm_(choose(hosts, call)),
      share_(share_of(hosts, node, algorithm_)),
      chunks_(chunks_of(hosts, call, algorithm_, share_.of)),
      sequence_(hosts.take_sequences(chunks_.size())),
      slots_(std::min<std::size_t>(chunks_.size(), most_under_way(share_.of))) {}

bool HostsAllreduce::advance_exchanges(bool& moved) {
    for (std::uint64_t chunk = exchanged_; chunk < reduced_; ++chunk) {
        std::optional<NodeExchange>& exchange = slot_of(chunk).exchange;
        if (!exchange) continue;
        const Progress state = exchange->progress();
        if (state == Progress::Failed) {
            status_ = hosts_->link->status();
            return false;
        }
        moved |= state != Progress::Pending;
        if (state == Progress::Done) exchange.reset();
    }
    while (exchanged_ < reduced_ && !slot_of(exchanged_).exchange) ++exchanged_;
    return true;
}

bool HostsAllreduce::start_next() {
    if (reduced_ < chunks_.size() && end_of_row() <= spread_ + slots_.size()) {
        start_reducing();
        return true;
    }
    if (spread_ == chunks_.size() || (share_.owns(spread_) && exchanged_ <= spread_)) return false;
    start_spreading();
    return true;
}

void HostsAllreduce::start_reducing() {
    reducing_ = true;
    part_ = *call_;
    if (algorithm_ == NodeAllreduce::RankOrder) {
        brought_ = 0;
        if (!alone()) start_bringing(slot_of(reduced_));
    } else if (!alone()) {
        part_.source = source_of(reduced_);
        part_.destination = destination_of(reduced_);
        part_.count = chunks_[end_of_row() - 1].end - chunks_[reduced_].begin;
        start_operation();
    }
    if (!operation_) end_of_reducing();
}

// A broadcast among the node's ranks; all but the first one throw it away.
void HostsAllreduce::start_bringing(Slot& slot) {
    const std::size_t bytes = chunk_bytes(reduced_);
    const auto others = static_cast<std::size_t>(node_->team->size()) - 1;
    if (slot.inputs == nullptr) slot.inputs = memory_of(others * chunk_bytes(0));
    part_.kind = PEERCOLL_BROADCAST;
    part_.broadcast.bytes = bytes;
    part_.broadcast.root = brought_;
    // The root's buffer is only read. The first rank's own chunk comes to nobody else's use, and is not sent.
    part_.broadcast.buffer = brought_ == node_->team->rank()
                                 ? const_cast<std::byte*>(source_of(reduced_))
                                 : slot.inputs.get() + static_cast<std::size_t>(std::max(brought_, 1) - 1) * bytes;
    if (brought_ == 0) {
        ++brought_;
        start_bringing(slot);
        return;
    }
    start_operation();
}

void HostsAllreduce::start_spreading() {
    reducing_ = false;
    if (alone()) {
        end_of_operation();
        return;
    }
    part_ = *call_;
    part_.kind = PEERCOLL_BROADCAST;
    part_.broadcast = {destination_of(spread_), chunk_bytes(spread_), share_.owner_of(spread_)};
    start_operation();
}

void HostsAllreduce::end_of_operation() {
    operation_.reset();
    if (!reducing_) {
        ++spread_;
        return;
    }
    if (algorithm_ == NodeAllreduce::RankOrder && ++brought_ < node_->team->size()) {
        start_bringing(slot_of(reduced_));
        return;
    }
    end_of_reducing();
}

void HostsAllreduce::end_of_reducing() {
    const std::uint64_t end = end_of_row();
    for (; reduced_ < end; ++reduced_)
        if (share_.owns(reduced_)) start_exchange();
}

void HostsAllreduce::start_exchange() {
    Slot& slot = slot_of(reduced_);
    const NodeShare share{hosts_->nodes(), hosts_->node, chunks_[reduced_].count(), line_granule(call_->element_bytes),
                          &hosts_->ranks};
    const AllreduceSchedule schedule(algorithm_, share);
    NodeExchange::Memory memory;
    memory.result = destination_of(reduced_);
    if (alone()) memory.own = source_of(reduced_);
    memory.element_bytes = call_->element_bytes;
    memory.fold = call_->fold;
    // The first chunk is the largest, so what it needs is enough for the later ones.
    if (slot.scratch == nullptr) slot.scratch = memory_of(schedule.scratch() * call_->element_bytes);
    memory.scratch = slot.scratch.get();
    if (algorithm_ == NodeAllreduce::RankOrder) {
        memory.inputs.push_back(source_of(reduced_));
        for (int other = 1; other < node_->team->size(); ++other)
            memory.inputs.push_back(slot.inputs.get() + static_cast<std::size_t>(other - 1) * chunk_bytes(reduced_));
    }
    slot.exchange.emplace(*hosts_->link, schedule, sequence_ + static_cast<std::uint32_t>(reduced_), std::move(memory));
}

Progress HostsAllreduce::progress() {
    bool moved = false;
    if (!advance_exchanges(moved)) return Progress::Failed;
    if (operation_) {
        const Progress state = operation_->progress();
        if (state == Progress::Failed) return state;
        moved |= state != Progress::Pending;
        if (state == Progress::Done) end_of_operation();
    } else {
        moved |= start_next();
    }
    if (spread_ == chunks_.size()) return Progress::Done;
    return moved ? Progress::Advanced : Progress::Pending;
}

}  // namespace peercoll
