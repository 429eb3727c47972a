// SPDX-License-Identifier: BSD-3-Clause
// The proof of a link before it is used, without wires.
#include "collectives/nodes/link_proof.hpp"

#include "collectives/nodes/node_partners.hpp"
#include "tests/unit/nodes/simulated_nodes.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace peercoll::test {
namespace {

struct Proofs {
    explicit Proofs(int count) : nodes(count) {
        for (int node = 0; node < count; ++node)
            proofs.emplace_back(nodes.link(node), node, set_up_partners(count, node), 0);
    }
    // Each node as often as it takes if nothing is wrong; what every one says at last.
    std::vector<Progress> run() {
        std::vector<Progress> states(proofs.size(), Progress::Pending);
        for (int round = 0; round < 20; ++round)
            for (std::size_t node = 0; node < proofs.size(); ++node)
                if (states[node] != Progress::Done) states[node] = proofs[node].progress();
        return states;
    }
    SimulatedNodes nodes;
    std::deque<LinkProof> proofs;
};

TEST(LinkProof, HoldsForNodesWhoseMessagesArriveWhole) {
    for (const int count : {2, 3, 4, 5, 8, 17, 64}) {
        Proofs all(count);
        for (const Progress state : all.run()) EXPECT_EQ(state, Progress::Done) << count << " nodes";
        EXPECT_EQ(all.nodes.unmatched(), 0U);
        EXPECT_EQ(all.nodes.outstanding(), 0U);
        for (const LinkProof& proof : all.proofs) EXPECT_EQ(proof.suspect(), -1);
    }
}

TEST(LinkProof, FailsAtWhoeverGetsAByteThatIsNotTheExpectedOne) {
    Proofs all(4);
    all.nodes.garble(2);
    const std::vector<Progress> states = all.run();
    for (const std::size_t node : {0U, 1U, 3U}) {
        EXPECT_EQ(states[node], Progress::Failed);
        EXPECT_TRUE(all.proofs[node].came_wrong());
        EXPECT_EQ(all.proofs[node].suspect(), 2);
    }
    EXPECT_EQ(states[2], Progress::Pending) << "what it gets is right, and nobody says so";
}

TEST(LinkProof, NamesTheNodeThatAMessageDoesNotReachAndLeavesNothingOutstanding) {
    Proofs all(3);
    all.nodes.deafen(1);
    const std::vector<Progress> states = all.run();
    EXPECT_EQ(states[0], Progress::Pending);
    EXPECT_EQ(all.proofs[0].suspect(), 1);
    EXPECT_FALSE(all.proofs[0].came_wrong());
    EXPECT_EQ(states[1], Progress::Pending);
    EXPECT_EQ(all.proofs[1].suspect(), 0);
    all.proofs.clear();  // the time limit's end
    EXPECT_EQ(all.nodes.outstanding(), 0U);
    EXPECT_EQ(all.nodes.unmatched(), 0U);
}

TEST(LinkProof, GoesOnServingTheLinkUntilThePartnersHaveSettledToo) {
    for (const int count : {2, 3, 5}) {
        Proofs all(count);
        all.nodes.settle_late(1, 7);
        for (const Progress state : all.run()) EXPECT_EQ(state, Progress::Done) << count << " nodes";
        EXPECT_EQ(all.nodes.outstanding(), 0U);
    }
}

TEST(LinkProof, DoesNotEndBeforeWhatItSentHasSettled) {
    Proofs all(2);
    all.nodes.settle_late(1, 1'000);
    EXPECT_EQ(all.run()[1], Progress::Pending);
}

TEST(LinkProof, FailsWhereTheLinkSaysThatANodeIsLost) {
    Proofs all(2);
    all.nodes.lose(1);
    const std::vector<Progress> states = all.run();
    EXPECT_EQ(states[0], Progress::Failed);
    EXPECT_EQ(all.proofs[0].suspect(), 1);
    EXPECT_EQ(states[1], Progress::Failed);
}

}  // namespace
}  // namespace peercoll::test
