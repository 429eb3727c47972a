// SPDX-License-Identifier: BSD-3-Clause
// NodePool: nodes of communicators that were destroyed in good health, kept for the next communicator of the same
// processes in the same order. Making a segment, mapping it and proving single copies costs hundreds of microseconds,
// which a program that makes and frees communicators in its loops would pay each time.
//
// Every rank has its own pool, and the pools of a communicator's ranks may differ: one rank has kept its communicator,
// another has dropped a node for want of room. So each rank tells which nodes it has, and one is used only if all have
// it. A node goes on where it stopped: its clocks and step numbers are in the segment.
#pragma once

#include "plugin/runtime/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

namespace peercoll {

class NodePool {
public:
    // Beyond either, the oldest goes. Ranks of a node mostly keep the same segments, so this is not memory per rank.
    static constexpr std::size_t most_nodes = 2;
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    // Keeps a node that nobody uses here any more. Drops one that has no team, or on which a rank has given up.
    void put(Node&& node) noexcept;
    // The nodes in which this process, as it is now (a forked child is another), is `rank` of `size`, oldest first.
    // They are the caller's until he gives them back, so that two threads never offer the same one.
    std::list<Node> take(const ProcessIdentity& self, int rank, int size);
    // As the oldest, which they were.
    void give_back(std::list<Node>&& nodes) noexcept;

private:
    // Moves what is too much to `dropped`, to be unmapped without the lock.
    void trim(std::list<Node>& dropped) noexcept;

    std::mutex mutex_;
    std::list<Node> nodes_;  // oldest first
};

// What a rank tells of one pooled node; id 0: nothing.
struct PooledNode {
    std::uint64_t id = 0;
    HostTeam::Position position;
};
using PooledNodes = std::array<PooledNode, NodePool::most_nodes>;

// The smallest id of a node that every rank has, at the same position; 0 if there is none. A pure function, so that all
// ranks choose alike.
std::uint64_t common_node(const std::vector<PooledNodes>& by_rank);

}  // namespace peercoll
