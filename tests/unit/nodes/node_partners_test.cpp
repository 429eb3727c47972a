// SPDX-License-Identifier: BSD-3-Clause
// Every pair of nodes between which any schedule sends has been connected before: all schedules are run over, for all
// roots, and their pairs collected.
#include "collectives/nodes/node_partners.hpp"

#include "collectives/nodes/allreduce_halving.hpp"
#include "collectives/nodes/allreduce_schedule.hpp"
#include "collectives/nodes/broadcast_binomial.hpp"
#include "collectives/nodes/broadcast_chain.hpp"
#include "collectives/nodes/late_connections.hpp"
#include "tests/unit/nodes/simulated_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <set>

namespace peercoll::test {
namespace {

using Nodes = std::set<int>;

// With whom `node` exchanges in an allreduce by this schedule. Every node has two ranks, interleaved.
Nodes partners_in(NodeAllreduce algorithm, int nodes, int node) {
    std::vector<std::vector<int>> ranks(static_cast<std::size_t>(nodes));
    for (int rank = 0; rank < 2 * nodes; ++rank) ranks[static_cast<std::size_t>(rank % nodes)].push_back(rank);
    const AllreduceSchedule schedule(algorithm, {nodes, node, static_cast<std::size_t>(nodes) * 8, 8, &ranks});
    Nodes partners;
    for (int number = 0; number < schedule.rounds(); ++number) {
        const Round round = schedule.round(number);
        for (const NodeMessage& message : round.sends) partners.insert(message.node);
        for (const NodeMessage& message : round.receives) partners.insert(message.node);
    }
    return partners;
}

// With whom `node` exchanges in broadcasts from any root.
Nodes partners_in_broadcasts(int nodes, int node) {
    Nodes partners;
    for (int root = 0; root < nodes; ++root) {
        for (const BroadcastTree& tree : {binomial_tree(nodes, node, root), chain(nodes, node, root)}) {
            if (tree.parent >= 0) partners.insert(tree.parent);
            partners.insert(tree.children.begin(), tree.children.end());
        }
    }
    return partners;
}

// What a call may use that comes right after the set-up.
Nodes partners_without_late_ones(int nodes, int node) {
    Nodes partners = partners_in_broadcasts(nodes, node);
    partners.merge(partners_in(NodeAllreduce::Doubling, nodes, node));
    if (nodes_halving::takes(nodes)) partners.merge(partners_in(NodeAllreduce::Halving, nodes, node));
    return partners;
}

Nodes all_but(int nodes, int node) {
    Nodes others;
    for (int other = 0; other < nodes; ++other)
        if (other != node) others.insert(other);
    return others;
}

Nodes as_set(const std::vector<int>& partners) {
    EXPECT_TRUE(std::is_sorted(partners.begin(), partners.end()));
    const Nodes set(partners.begin(), partners.end());
    EXPECT_EQ(set.size(), partners.size()) << "a partner is named twice";
    return set;
}

std::vector<int> numbers_of_nodes() {
    std::vector<int> numbers;
    for (int nodes = 2; nodes <= 64; ++nodes) numbers.push_back(nodes);
    for (const int nodes : {100, 127, 128, 129, 200}) numbers.push_back(nodes);
    return numbers;
}

}  // namespace

TEST(NodePartners, AreThoseOfTheSchedulesThatNeedNoLateOnesAndNoOthers) {
    for (const int nodes : numbers_of_nodes()) {
        for (int node = 0; node < nodes; ++node) {
            const Nodes partners = as_set(set_up_partners(nodes, node));
            ASSERT_EQ(partners, nodes <= 16 ? all_but(nodes, node) : partners_without_late_ones(nodes, node))
                << "node " << node << " of " << nodes;
        }
    }
}

TEST(NodePartners, OfFewNodesAreConnectedForEverySchedule) {
    for (int nodes = 2; nodes <= 16; ++nodes)
        for (const NodeAllreduce algorithm : {NodeAllreduce::Direct, NodeAllreduce::RankOrder})
            EXPECT_FALSE(needs_late_partners(algorithm, nodes)) << nodes;
}

TEST(NodePartners, LateOnesAreAllThatAreLeft) {
    for (const int nodes : numbers_of_nodes()) {
        if (nodes <= 16) continue;
        for (int node = 0; node < nodes; ++node) {
            Nodes partners = as_set(set_up_partners(nodes, node));
            for (int batch = 0; batch < late_batches(nodes); ++batch) {
                const Nodes late = as_set(late_partners(nodes, node, batch));
                EXPECT_LE(late.size(), 32U);
                partners.insert(late.begin(), late.end());
            }
            ASSERT_EQ(partners, all_but(nodes, node));
        }
    }
}

TEST(NodePartners, ASchedulesPairsAreConnectedOnceItsLateOnesAre) {
    for (const int nodes : numbers_of_nodes()) {
        for (const NodeAllreduce algorithm :
             {NodeAllreduce::Doubling, NodeAllreduce::Halving, NodeAllreduce::Direct, NodeAllreduce::RankOrder}) {
            if (algorithm == NodeAllreduce::Halving && !nodes_halving::takes(nodes)) continue;
            if (needs_late_partners(algorithm, nodes)) continue;  // all nodes, as the test above says
            for (int node = 0; node < nodes; ++node) {
                const std::vector<int> connected = set_up_partners(nodes, node);
                for (const int other : partners_in(algorithm, nodes, node))
                    ASSERT_TRUE(std::binary_search(connected.begin(), connected.end(), other))
                        << node_allreduce_names[static_cast<std::size_t>(algorithm)] << " of " << nodes
                        << " nodes: " << node << " and " << other;
            }
        }
    }
}

TEST(NodePartners, AreMutual) {
    for (const int nodes : {5, 16, 17, 31, 32, 33, 100}) {
        for (int node = 0; node < nodes; ++node) {
            for (const int other : set_up_partners(nodes, node)) {
                const std::vector<int> theirs = set_up_partners(nodes, other);
                EXPECT_TRUE(std::binary_search(theirs.begin(), theirs.end(), node)) << node << " and " << other;
            }
            for (int batch = 0; batch < late_batches(nodes); ++batch) {
                for (const int other : late_partners(nodes, node, batch)) {
                    const std::vector<int> theirs = late_partners(nodes, other, batch);
                    EXPECT_TRUE(std::binary_search(theirs.begin(), theirs.end(), node)) << node << " and " << other;
                }
            }
        }
    }
}

// The set-up's messages at scale: twice the logarithm, and for numbers that are no power of two once more.
TEST(NodePartners, OfManyNodesGrowWithTheLogarithm) {
    for (const int nodes : {17, 64, 512, 1500, 2048}) {
        const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(nodes - 1)));
        std::size_t most = 0;
        for (int node = 0; node < nodes; ++node) most = std::max(most, set_up_partners(nodes, node).size());
        std::printf("%4d nodes: at most %2zu connections of a node when it is set up\n", nodes, most);
        EXPECT_LE(most, 3 * levels + 1);
        if (std::has_single_bit(static_cast<unsigned>(nodes))) {
            EXPECT_EQ(most, 2 * levels - 1) << "half way round both sides meet";
        }
    }
}

namespace {

struct LateOnes {
    explicit LateOnes(int count) : nodes(count) {
        for (int node = 0; node < count; ++node) all.emplace_back(nodes.link(node), count, node, 5);
    }
    // The nodes in turn, but `absent`, until all are done or none gets on.
    std::vector<Progress> run(int absent = -1) {
        std::vector<Progress> states(all.size(), Progress::Pending);
        for (int turn = 0; turn < 1000; ++turn)
            for (std::size_t node = 0; node < all.size(); ++node)
                if (static_cast<int>(node) != absent && states[node] != Progress::Done &&
                    states[node] != Progress::Failed)
                    states[node] = all[node].progress();
        return states;
    }
    SimulatedNodes nodes;
    std::deque<LateConnections> all;
};

}  // namespace

TEST(LateConnections, ExchangeAMessageAndAWordWithEachNodeThatTheSetUpLeftOut) {
    for (const int count : {17, 33, 40, 64}) {
        LateOnes late(count);
        for (const Progress state : late.run()) ASSERT_EQ(state, Progress::Done) << count << " nodes";
        EXPECT_EQ(late.nodes.unmatched(), 0U);
        EXPECT_EQ(late.nodes.outstanding(), 0U);
        for (int node = 0; node < count; ++node) {
            std::uint64_t partners = 0;
            for (int batch = 0; batch < late_batches(count); ++batch)
                partners += late_partners(count, node, batch).size();
            EXPECT_EQ(late.nodes.traffic(node).messages_sent, 2 * partners);
            EXPECT_EQ(late.nodes.traffic(node).bytes_sent, partners * ((std::uint64_t{16} << 10) + 1));
        }
    }
}

TEST(LateConnections, AreOfNoCostToFewNodes) {
    LateOnes late(16);
    for (const Progress state : late.run()) EXPECT_EQ(state, Progress::Done);
    EXPECT_EQ(late.nodes.traffic(0).messages_sent, 0U);
}

TEST(LateConnections, DoNotEndBeforeAPartnerThatSettlesLate) {
    LateOnes late(40);
    late.nodes.settle_late(7, 100'000'000);
    const std::vector<Progress> states = late.run();
    const std::vector<int> first = late_partners(40, 7, 0);
    for (const int partner : first) EXPECT_NE(states[static_cast<std::size_t>(partner)], Progress::Done) << partner;
    EXPECT_NE(states[7], Progress::Done);
}

TEST(LateConnections, WaitForANodeThatComesLater) {
    LateOnes late(33);
    EXPECT_NE(late.run(20)[17], Progress::Done) << "at distance 3 of the absent one";
    for (const Progress state : late.run()) EXPECT_EQ(state, Progress::Done);
    EXPECT_EQ(late.nodes.outstanding(), 0U);
}

TEST(LateConnections, NameTheNodeWhoseMessageCameWrong) {
    LateOnes late(20);
    late.nodes.garble(4);
    const std::vector<Progress> states = late.run();
    const std::vector<int> partners = late_partners(20, 4, 0);
    ASSERT_FALSE(partners.empty());
    for (const int partner : partners) {
        const auto index = static_cast<std::size_t>(partner);
        EXPECT_EQ(states[index], Progress::Failed);
        EXPECT_EQ(late.all[index].suspect(), 4);
        EXPECT_TRUE(late.all[index].came_wrong());
    }
    late.all.clear();
    EXPECT_EQ(late.nodes.outstanding(), 0U);
}

}  // namespace peercoll::test
