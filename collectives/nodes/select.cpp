// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/select.hpp"

#include "collectives/host/segment_layout.hpp"
#include "collectives/nodes/allreduce_halving.hpp"

#include <algorithm>

namespace peercoll {

namespace {

// From here on h-1 messages a round are too many for one node to start at once.
constexpr int many_nodes = 16;
// More than this is too much memory for what is under way.
constexpr std::size_t largest_chunk_bytes = std::size_t{1} << 20;
constexpr int wire_ranks = 8;
constexpr int most_wire_ranks = 64;

// A slice of it, which goes from node to node, is a message.
std::size_t most_bytes_of_chunk(int nodes) {
    return std::min(static_cast<std::size_t>(nodes) * node_message_bytes, largest_chunk_bytes);
}

}  // namespace

NodeAllreduce select_node_allreduce(const NodeSituation& situation) {
    if (situation.rank_order) return NodeAllreduce::RankOrder;
    // Between two nodes doubling sends no more than the others, in half the rounds.
    if (situation.bytes <= node_whole_bytes || situation.nodes == 2) return NodeAllreduce::Doubling;
    if (situation.nodes >= many_nodes && nodes_halving::takes(situation.nodes)) return NodeAllreduce::Halving;
    return NodeAllreduce::Direct;
}

std::size_t node_chunk_bytes(NodeAllreduce algorithm, std::size_t message_bytes, int wire_ranks, int nodes) {
    if (message_bytes <= node_whole_bytes) return message_bytes;
    const std::size_t most = algorithm == NodeAllreduce::Doubling ? node_message_bytes : most_bytes_of_chunk(nodes);
    // All wire ranks get the same, of whole cache lines.
    const std::size_t row = most * static_cast<std::size_t>(wire_ranks);
    const std::size_t rows = (message_bytes + row - 1) / row;
    const std::size_t chunks = rows * static_cast<std::size_t>(wire_ranks);
    return ((message_bytes + chunks - 1) / chunks + cache_line - 1) / cache_line * cache_line;
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
