// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts between nodes, without wires.
#include "collectives/host/chunks.hpp"
#include "collectives/nodes/broadcast_binomial.hpp"
#include "collectives/nodes/broadcast_chain.hpp"
#include "collectives/nodes/forwarding.hpp"
#include "collectives/nodes/select.hpp"
#include "tests/unit/nodes/expressions.hpp"
#include "tests/unit/nodes/simulated_nodes.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace peercoll::test {

namespace {

using MakeTree = BroadcastTree (*)(int nodes, int node, int root);

// Runs a broadcast of `bytes` bytes in chunks of 64 that `ranks` ranks of each node take in turns; the root has a chunk
// more at each turn. Returns the turns.
int broadcast(SimulatedNodes& simulated, MakeTree make_tree, int nodes, int root, std::size_t bytes, int ranks = 1) {
    const Chunks chunks(bytes, 1, 64);
    std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(nodes), std::vector<std::byte>(bytes));
    std::vector<std::byte> expected(bytes);
    for (std::size_t i = 0; i < bytes; ++i) expected[i] = static_cast<std::byte>(leaf(root, i));
    buffers[static_cast<std::size_t>(root)] = expected;
    std::vector<std::unique_ptr<NodeForwarding>> all;
    std::vector<std::uint64_t> own;  // chunks
    for (int node = 0; node < nodes; ++node) {
        for (int rank = 0; rank < ranks; ++rank) {
            // Ranks have links of their own: other names here.
            all.push_back(std::make_unique<NodeForwarding>(
                simulated.link(node), make_tree(nodes, node, root), 9 + static_cast<std::uint32_t>(rank),
                buffers[static_cast<std::size_t>(node)].data(), chunks, ChunkShare{rank, ranks}));
            own.push_back(ChunkShare{rank, ranks}.count(chunks.size()));
        }
    }
    std::vector<bool> done(all.size());
    int turns = 0;
    for (std::size_t left = all.size(); left > 0 && turns < 10000; ++turns) {
        for (std::size_t one = 0; one < all.size(); ++one) {
            if (done[one]) continue;
            if (static_cast<int>(one) / ranks == root)
                all[one]->offer(std::min<std::uint64_t>(chunks.size(), static_cast<std::uint64_t>(turns)));
            const Progress state = all[one]->progress();
            EXPECT_NE(state, Progress::Failed);
            if (state != Progress::Done) continue;
            EXPECT_EQ(all[one]->available(), own[one]);
            done[one] = true;
            --left;
        }
    }
    for (int node = 0; node < nodes; ++node)
        EXPECT_EQ(std::memcmp(buffers[static_cast<std::size_t>(node)].data(), expected.data(), bytes), 0)
            << "node " << node << " of " << nodes << ", root " << root;
    EXPECT_EQ(simulated.unmatched(), 0u);
    EXPECT_EQ(simulated.outstanding(), 0u);
    return turns;
}

}  // namespace

TEST(BroadcastBetweenNodes, EveryNodeGetsTheMessageOnceFromAnyRoot) {
    for (const MakeTree make_tree : {&binomial_tree, &chain}) {
        for (int nodes = 1; nodes <= 17; ++nodes) {
            for (int root = 0; root < nodes; ++root) {
                for (const std::size_t bytes : {1u, 64u, 65u, 3000u}) {
                    SimulatedNodes simulated(nodes);
                    broadcast(simulated, make_tree, nodes, root, bytes);
                    for (int node = 0; node < nodes; ++node)
                        ASSERT_EQ(simulated.traffic(node).bytes_received, node == root ? 0 : bytes);
                }
            }
        }
    }
}

TEST(BroadcastBetweenNodes, RanksThatTakeTurnsBringTheMessageOnceTogether) {
    for (const MakeTree make_tree : {&binomial_tree, &chain}) {
        for (const int ranks : {2, 3, 8}) {
            for (const std::size_t bytes : {1u, 65u, 512u, 3000u}) {
                SimulatedNodes simulated(5);
                broadcast(simulated, make_tree, 5, 2, bytes, ranks);
                for (int node = 0; node < 5; ++node)
                    ASSERT_EQ(simulated.traffic(node).bytes_received, node == 2 ? 0 : bytes);
            }
        }
    }
}

TEST(BroadcastBetweenNodes, EveryChunkHasOneOwner) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
        for (std::uint64_t chunks = 0; chunks <= 12; ++chunks) {
            std::vector<int> owners(chunks, -1);
            std::uint64_t all = 0;
            for (int rank = 0; rank <= ranks; ++rank) {  // one more than take turns: it owns nothing
                const ChunkShare share{rank, ranks};
                all += share.count(chunks);
                for (std::uint64_t own = 0; own < share.count(chunks); ++own) {
                    ASSERT_LT(share.chunk(own), chunks);
                    EXPECT_TRUE(share.owns(share.chunk(own)));
                    owners[share.chunk(own)] = rank;
                }
            }
            EXPECT_EQ(all, chunks);
            for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
                EXPECT_EQ(owners[chunk], (ChunkShare{0, ranks}.owner_of(chunk)));
        }
    }
}

TEST(BroadcastBetweenNodes, EachNodeOfAChainSendsTheMessageAtMostOnce) {
    SimulatedNodes simulated(9);
    broadcast(simulated, &chain, 9, 4, 6400);
    for (int node = 0; node < 9; ++node)
        EXPECT_EQ(simulated.traffic(node).bytes_sent, node == 3 ? 0u : 6400u) << "node " << node;
}

TEST(BroadcastBetweenNodes, ABinomialTreeIsAsDeepAsTheLogarithmAtAnyScale) {
    for (const int nodes : {2, 3, 64, 100, 1024, 2048}) {
        const int log = std::bit_width(static_cast<unsigned>(nodes - 1));
        for (int node = 0; node < nodes; ++node) {
            int depth = 0;
            for (int at = node; at != 5 % nodes; ++depth) at = binomial_tree(nodes, at, 5 % nodes).parent;
            ASSERT_LE(depth, log) << nodes << " nodes, node " << node;
        }
        EXPECT_EQ(binomial_tree(nodes, 5 % nodes, 5 % nodes).children.size(), static_cast<std::size_t>(log));
    }
}

TEST(BroadcastBetweenNodes, ChildrenKnowTheParentThatKnowsThem) {
    for (const MakeTree make_tree : {&binomial_tree, &chain}) {
        for (const int nodes : {1, 2, 7, 32, 300}) {
            int edges = 0;
            for (int node = 0; node < nodes; ++node) {
                for (const int child : make_tree(nodes, node, nodes / 2).children) {
                    EXPECT_EQ(make_tree(nodes, child, nodes / 2).parent, node);
                    ++edges;
                }
            }
            EXPECT_EQ(edges, nodes - 1);
            EXPECT_EQ(make_tree(nodes, nodes / 2, nodes / 2).parent, -1);
        }
    }
}

TEST(ChoiceBetweenNodes, SmallMessagesTakeFewRoundsAndLargeOnesFewBytes) {
    EXPECT_EQ(select_node_allreduce({8, 2, false}), NodeAllreduce::Doubling);
    EXPECT_EQ(select_node_allreduce({8, 2048, false}), NodeAllreduce::Doubling);
    EXPECT_EQ(select_node_allreduce({std::size_t{64} << 10, 4, false}), NodeAllreduce::Doubling);
    EXPECT_EQ(select_node_allreduce({std::size_t{1} << 24, 2, false}), NodeAllreduce::Doubling) << "no more bytes";
    EXPECT_EQ(select_node_allreduce({std::size_t{1} << 24, 3, false}), NodeAllreduce::Direct);
    EXPECT_EQ(select_node_allreduce({std::size_t{1} << 24, 64, false}), NodeAllreduce::Halving);
    EXPECT_EQ(select_node_allreduce({std::size_t{1} << 24, 65, false}), NodeAllreduce::Direct);
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 24})
        EXPECT_EQ(select_node_allreduce({bytes, 4, true}), NodeAllreduce::RankOrder);
    EXPECT_EQ(select_node_broadcast({8, 4, false}), NodeBroadcast::Binomial);
    EXPECT_EQ(select_node_broadcast({std::size_t{1} << 24, 4, false}), NodeBroadcast::Chain);
    EXPECT_EQ(select_node_broadcast({std::size_t{1} << 24, 512, false}), NodeBroadcast::Binomial);
    EXPECT_EQ(select_wire_ranks(WireShare::Auto, 1), 1);
    EXPECT_EQ(select_wire_ranks(WireShare::Auto, 2), 2);
    EXPECT_EQ(select_wire_ranks(WireShare::Auto, 96), 8);
    EXPECT_EQ(select_wire_ranks(WireShare::All, 16), 16);
    EXPECT_EQ(select_wire_ranks(WireShare::One, 16), 1);
}

TEST(ChunksBetweenNodes, AreMessagesOfOnePacketAndTheSameForEachWireRank) {
    constexpr std::size_t packet = std::size_t{60} << 10;
    for (const std::size_t message : {std::size_t{65} << 10, std::size_t{100'000}, std::size_t{1} << 20,
                                      (std::size_t{1} << 20) + 4, std::size_t{16} << 20})
        for (const int wire_ranks : {1, 2, 4, 7, 64}) {
            SCOPED_TRACE(testing::Message() << message << " bytes, " << wire_ranks << " wire ranks");
            const std::size_t doubling = node_chunk_bytes(NodeAllreduce::Doubling, message, wire_ranks, 2);
            EXPECT_LE(doubling, packet);
            // As few rows as packets allow, and nobody has much more than another in the last one.
            const auto ranks = static_cast<std::size_t>(wire_ranks);
            const std::size_t chunks = Chunks(message / 4, 4, doubling).size();
            EXPECT_EQ((chunks + ranks - 1) / ranks, (message + packet * ranks - 1) / (packet * ranks));
            EXPECT_TRUE(chunks % ranks == 0 || doubling < std::size_t{4} << 10) << chunks;
            for (int nodes = 3; nodes < 200; ++nodes) {
                const std::size_t direct = node_chunk_bytes(NodeAllreduce::Direct, message, wire_ranks, nodes);
                ASSERT_LE(direct / static_cast<std::size_t>(nodes), packet) << nodes << " nodes";
                ASSERT_LE(direct, std::size_t{1} << 20) << "what is under way does not grow for ever";
            }
        }
    EXPECT_EQ(node_chunk_bytes(NodeAllreduce::Direct, 16u << 20, 1, 4), 243'200U) << "69 of them";
    for (const std::size_t small : {std::size_t{8}, std::size_t{64} << 10})
        EXPECT_EQ(node_chunk_bytes(NodeAllreduce::Doubling, small, 4, 5), small) << "rounds cost more than bytes";
}

}  // namespace peercoll::test
