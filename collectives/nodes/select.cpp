// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/select.hpp"

#include "collectives/nodes/allreduce_halving.hpp"

#include <algorithm>

namespace peercoll {

namespace {

// Up to here a round costs more than its bytes do.
constexpr std::size_t small_bytes = std::size_t{64} << 10;
// Between two nodes doubling sends no more than the others, in half the rounds; but folds twice as much.
constexpr std::size_t small_bytes_of_two = std::size_t{256} << 10;
// From here on h-1 messages a round are too many for one node to start at once.
constexpr int many_nodes = 16;
// More than this is too much memory for what is under way.
constexpr std::size_t largest_chunk_bytes = std::size_t{1} << 20;
constexpr int wire_ranks = 4;
constexpr int most_wire_ranks = 64;

}  // namespace

NodeAllreduce select_node_allreduce(const NodeSituation& situation) {
    if (situation.rank_order) return NodeAllreduce::RankOrder;
    if (situation.bytes <= (situation.nodes == 2 ? small_bytes_of_two : small_bytes)) return NodeAllreduce::Doubling;
    if (situation.nodes >= many_nodes && nodes_halving::takes(situation.nodes)) return NodeAllreduce::Halving;
    return NodeAllreduce::Direct;
}

std::size_t node_chunk_bytes(int nodes) {
    return std::min(static_cast<std::size_t>(nodes) * node_message_bytes, largest_chunk_bytes);
}

int select_wire_ranks(WireShare share, int fewest_ranks_of_a_node) {
    if (share == WireShare::One) return 1;
    return std::min(fewest_ranks_of_a_node, share == WireShare::All ? most_wire_ranks : wire_ranks);
}

NodeBroadcast select_node_broadcast(const NodeSituation& situation) {
    // A chain takes as many steps as it has chunks and nodes, and each node sends the message once; it pays once there
    // are more chunks than nodes to fill it.
    const std::size_t chunks = situation.bytes / node_message_bytes;
    return chunks >= static_cast<std::size_t>(situation.nodes) ? NodeBroadcast::Chain : NodeBroadcast::Binomial;
}

}  // namespace peercoll
