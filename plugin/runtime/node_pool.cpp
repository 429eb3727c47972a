// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/node_pool.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace peercoll {

namespace {

bool is_broken(const Node& node) {
    return node.team == nullptr || node.team->header().abort_code.load(std::memory_order_relaxed) != 0;
}

bool is_ours(const Node& node, const ProcessIdentity& self, int rank, int size) {
    return node.team->size() == size && node.team->rank() == rank &&
           node.identities[static_cast<std::size_t>(rank)] == self;
}

bool has(const PooledNodes& nodes, const PooledNode& wanted) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const PooledNode& node) {
        return node.id == wanted.id && node.position == wanted.position;
    });
}

}  // namespace

void NodePool::put(Node&& node) noexcept {
    if (is_broken(node)) return;
    std::list<Node> newest;
    try {
        newest.push_back(std::move(node));
    } catch (const std::bad_alloc&) {
        return;  // not kept, then
    }
    std::list<Node> dropped;
    const std::lock_guard lock(mutex_);
    nodes_.splice(nodes_.end(), newest);
    trim(dropped);
}

std::list<Node> NodePool::take(const ProcessIdentity& self, int rank, int size) {
    std::list<Node> taken;
    std::list<Node> broken;
    const std::lock_guard lock(mutex_);
    for (auto node = nodes_.begin(); node != nodes_.end();) {
        const auto next = std::next(node);
        if (is_broken(*node))
            broken.splice(broken.end(), nodes_, node);
        else if (is_ours(*node, self, rank, size))
            taken.splice(taken.end(), nodes_, node);
        node = next;
    }
    return taken;
}

void NodePool::give_back(std::list<Node>&& nodes) noexcept {
    std::list<Node> dropped;
    const std::lock_guard lock(mutex_);
    nodes_.splice(nodes_.begin(), nodes);
    trim(dropped);
}

void NodePool::trim(std::list<Node>& dropped) noexcept {
    std::size_t bytes = 0;
    for (const Node& node : nodes_) bytes += node.segment.bytes();
    while (nodes_.size() > most_nodes || bytes > most_bytes) {
        bytes -= nodes_.front().segment.bytes();
        dropped.splice(dropped.end(), nodes_, nodes_.begin());
    }
}

std::uint64_t common_node(const std::vector<PooledNodes>& by_rank) {
    std::uint64_t smallest = 0;
    for (const PooledNode& candidate : by_rank.front()) {
        if (candidate.id == 0 || (smallest != 0 && candidate.id > smallest)) continue;
        if (std::all_of(by_rank.begin(), by_rank.end(),
                        [&](const PooledNodes& nodes) { return has(nodes, candidate); }))
            smallest = candidate.id;
    }
    return smallest;
}

}  // namespace peercoll
