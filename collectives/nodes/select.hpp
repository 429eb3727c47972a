// SPDX-License-Identifier: BSD-3-Clause
// Which schedule between nodes serves a call. Pure functions of what all ranks know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace peercoll {

enum class NodeAllreduce : std::uint8_t { Doubling, Halving, Direct, RankOrder };
inline constexpr std::array<std::string_view, 4> node_allreduce_names = {"doubling", "halving", "direct", "rank_order"};
enum class NodeBroadcast : std::uint8_t { Binomial, Chain };
inline constexpr std::array<std::string_view, 2> node_broadcast_names = {"binomial", "chain"};

struct NodeSituation {
    std::size_t bytes = 0;  // of the whole message
    int nodes = 2;
    // The fold must go from rank to rank, and reading the nodes one after the other does not.
    bool rank_order = false;
};

NodeAllreduce select_node_allreduce(const NodeSituation& situation);
NodeBroadcast select_node_broadcast(const NodeSituation& situation);

// The pieces that a message goes in, so that what nodes do and what the wire does overlap. As a rule a message between
// two nodes is then what a sender hands to its network at once: the largest packet that systems cut for the wire
// themselves is 64 KiB with its headers. A longer one goes in parts, each of which the sender's system paces and wakes
// up for: between namespaces on two cores an allreduce of 16 MiB by 4 nodes took 40 ms in pieces of 1 MiB, 18 in these.
inline constexpr std::size_t node_message_bytes = std::size_t{60} << 10;
// Up to here a message goes whole: a round costs more than its bytes do.
inline constexpr std::size_t node_whole_bytes = std::size_t{64} << 10;
// The chunks that an allreduce's message goes in, where `wire_ranks` ranks of each node take one each in turn.
std::size_t node_chunk_bytes(NodeAllreduce algorithm, std::size_t message_bytes, int wire_ranks, int nodes);

// How many ranks of each node exchange its chunks with other nodes, in turns (ChunkShare). One rank alone cannot fill a
// wire whose messages the processor copies (2 nodes of 8 ranks, 1 MiB: 1 rank 1290 us, 4 ranks 940, 8 ranks 830).
enum class WireShare : std::uint8_t { Auto, One, All };
int select_wire_ranks(WireShare share, int fewest_ranks_of_a_node);

}  // namespace peercoll
