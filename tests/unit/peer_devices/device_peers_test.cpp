// SPDX-License-Identifier: BSD-3-Clause
// Who may reach whose device memory, as all ranks of a group see it alike.
#include "plugin/peer/device_peers.hpp"

#include "tests/unit/gather.hpp"
#include "tests/unit/peer_devices/fake_process.hpp"
#include "tests/unit/peer_devices/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace peercoll {
namespace {

using test::FakeNode;
using test::FakeProcess;
using test::Party;
using test::Rank;
using test::reach_table;
using test::run_ranks;
using testing::ElementsAre;
using testing::HasSubstr;

// The table is longer than what a rank may hand to an allgather, so its hash is compared.
void expect_alike_on_all_ranks(Rank& rank, const DevicePeers& peers) {
    const auto hashes = test::gather(rank.exchange(1), std::hash<std::string>{}(reach_table(peers, rank.size())));
    for (const std::size_t hash : hashes) EXPECT_EQ(hash, hashes.front());
}

void expect_nothing_left(Rank& rank, const FakeNode& node, const FakeProcess& process) {
    EXPECT_TRUE(rank.exchange(1).meet());
    EXPECT_EQ(node.bytes_in_use(), 0U);
    EXPECT_EQ(node.mappings(), 0U);
    EXPECT_EQ(process.streams(), 0U);
    EXPECT_EQ(process.enabled_peers(), 0U);
    EXPECT_TRUE(rank.exchange(1).meet());
}

TEST(DevicePeers, RanksOfOneDeviceReachEachOtherThroughItsExecutor) {
    FakeNode node(1);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        const DevicePeers& peers = *party.peers;
        ASSERT_EQ(peers.devices().size(), 1U);
        EXPECT_EQ(peers.devices()[0].name, "Fake 0");
        EXPECT_THAT(peers.devices()[0].ranks, ElementsAre(0, 1, 2));
        EXPECT_EQ(peers.index_of(FakeProcess::runtime(), 0), 0U);
        for (int owner = 0; owner < 3; ++owner) {
            EXPECT_TRUE(peers.may_reach(0, 0, owner, 0)) << owner;
            EXPECT_EQ(peers.may_reach(1, 0, owner, 0), owner == 1) << "only its own: it is not the executor";
        }
        EXPECT_EQ(peers.path_text(0, 1),
                  "rank 0 (Fake 0 0000:10:00.0) - rank 1 (Fake 0 0000:10:00.0): direct loads and stores (proven by "
                  "kernel stores and copies, both ways)");
        EXPECT_EQ(peers.path_text(1, 2),
                  "rank 1 (Fake 0 0000:10:00.0) - rank 2 (Fake 0 0000:10:00.0): direct loads and stores (proven by "
                  "kernel stores and copies, both ways)");
        expect_alike_on_all_ranks(rank, peers);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, AnyRankMayExecuteWhereThePolicySaysSo) {
    FakeNode node(2);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {rank.rank() / 2});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        DevicePolicy policy;
        policy.every_rank_executes = rank.rank() == 3;
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        for (int executor = 0; executor < 4; ++executor)
            for (int owner = 0; owner < 4; ++owner)
                EXPECT_TRUE(party.peers->may_reach(executor, static_cast<std::uint32_t>(executor / 2), owner,
                                                   static_cast<std::uint32_t>(owner / 2)))
                    << executor << " " << owner;
        expect_alike_on_all_ranks(rank, *party.peers);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, DevicesAreNamedByIdentityHoweverEachRankNumbersThem) {
    FakeNode node(3);
    run_ranks(3, [&](Rank& rank) {
        const std::vector<std::vector<int>> visible{{2, 0, 1}, {0, 1, 2}, {1, 2, 0}};
        const std::vector<int> active{0, 1, 0};  // the node's devices 2, 1, 1
        FakeProcess process(node, visible[static_cast<std::size_t>(rank.rank())],
                            {active[static_cast<std::size_t>(rank.rank())]});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        const DevicePeers& peers = *party.peers;
        ASSERT_EQ(peers.devices().size(), 2U) << "nobody uses the third";
        EXPECT_EQ(peers.devices()[0].name, "Fake 2");
        EXPECT_EQ(peers.devices()[1].name, "Fake 1");
        EXPECT_THAT(peers.devices()[1].ranks, ElementsAre(1, 2));
        const std::vector<int> expected_0{0, 2, 1};
        const std::vector<int> expected_1{2, 1, 0};
        EXPECT_EQ(peers.local_device(0), expected_0[static_cast<std::size_t>(rank.rank())]);
        EXPECT_EQ(peers.local_device(1), expected_1[static_cast<std::size_t>(rank.rank())]);
        EXPECT_TRUE(peers.may_reach(0, 0, 2, 1));
        EXPECT_TRUE(peers.may_reach(1, 1, 0, 0));
        EXPECT_FALSE(peers.may_reach(0, 1, 2, 1)) << "rank 0 does not use this device";
        expect_alike_on_all_ranks(rank, peers);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, OfTwoIslandsReachOnlyTheirOwn) {
    FakeNode node(4);
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to) node.set_access(from, to, from / 2 == to / 2);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0, 1, 2, 3}, {rank.rank()});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        for (int executor = 0; executor < 4; ++executor)
            for (int owner = 0; owner < 4; ++owner)
                EXPECT_EQ(party.peers->may_reach(executor, static_cast<std::uint32_t>(executor), owner,
                                                 static_cast<std::uint32_t>(owner)),
                          executor / 2 == owner / 2);
        EXPECT_THAT(party.peers->path_text(1, 2), HasSubstr("no peer access"));
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, AccessInOneDirectionOnlyIsNone) {
    FakeNode node(2);
    node.set_access(1, 0, false);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {rank.rank()});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 1));
        EXPECT_FALSE(party.peers->may_reach(1, 1, 0, 0));
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("staged through host memory"));
        EXPECT_EQ(process.imports(), 0U) << "nothing is tried where nothing can come of it";
    });
}

TEST(DevicePeers, ARankThatSeesOnlyItsOwnDeviceReachesNoOther) {
    FakeNode node(2);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {rank.rank()}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        ASSERT_EQ(party.peers->devices().size(), 2U);
        EXPECT_EQ(party.peers->local_device(static_cast<std::uint32_t>(rank.rank())), 0);
        EXPECT_EQ(party.peers->local_device(static_cast<std::uint32_t>(1 - rank.rank())), -1);
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 1));
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("does not see it"));
        expect_alike_on_all_ranks(rank, *party.peers);
    });
}

// What two ranks find that see one device each, where the runtime maps memory of others, too.
void with_unseen_devices(const std::function<void(FakeProcess&)>& prepare,
                         const std::function<void(const DevicePeers&)>& look) {
    FakeNode node(2);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {rank.rank()}, {0});
        process.imports_unseen = true;
        if (prepare) prepare(process);
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        ASSERT_EQ(party.peers->devices().size(), 2U);
        EXPECT_GT(cache.trials(), 0U);
        look(*party.peers);
        expect_alike_on_all_ranks(rank, *party.peers);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, ARankThatSeesOnlyItsOwnDeviceReachesOthersIfTheProofHolds) {
    with_unseen_devices({}, [](const DevicePeers& peers) {
        EXPECT_TRUE(peers.may_reach(0, 0, 1, 1));
        EXPECT_TRUE(peers.may_reach(1, 1, 0, 0));
        EXPECT_THAT(peers.path_text(0, 1), HasSubstr("proven by kernel stores and copies"));
    });
}

TEST(DevicePeers, ADeviceThatIsNotSeenIsStagedWhereItsMemoryIsNotMapped) {
    with_unseen_devices([](FakeProcess& process) { process.faults.unseen_refused = true; },
                        [](const DevicePeers& peers) {
                            EXPECT_FALSE(peers.may_reach(0, 0, 1, 1));
                            EXPECT_FALSE(peers.may_reach(1, 1, 0, 0));
                            EXPECT_THAT(peers.path_text(0, 1), HasSubstr("the device is not visible"));
                        });
}

TEST(DevicePeers, ADeviceThatIsNotSeenIsStagedWhereStoresGoNowhere) {
    with_unseen_devices([](FakeProcess& process) { process.faults.kernel_stores_lost = true; },
                        [](const DevicePeers& peers) {
                            EXPECT_FALSE(peers.may_reach(0, 0, 1, 1));
                            EXPECT_THAT(peers.path_text(0, 1), HasSubstr("stores did not arrive"));
                        });
}

// Ranks that see all devices prove anew what others could not do, and the other way round.
TEST(DevicePeers, AProofOfRanksThatSeeOneDeviceSaysNothingOfThoseThatSeeBoth) {
    ProofCache cache;
    const ProofCache::PathKey unseen{7, "fake", {1}, {2}, true, false};
    ProofCache::PathKey seen = unseen;
    seen.seen = true;
    cache.learn(unseen, ProofVerdict::of(ProofCode::NotImported));
    EXPECT_EQ(cache.path(unseen).code, ProofCode::NotImported);
    EXPECT_EQ(cache.path(seen).code, ProofCode::Unknown);
}

TEST(DevicePeers, OneProcessReachesItsOtherDeviceByPeerAccess) {
    FakeNode node(2);
    run_ranks(1, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {0, 1});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 0, 1));
        EXPECT_TRUE(party.peers->may_reach(0, 1, 0, 0));
        EXPECT_EQ(process.imports(), 0U);
        EXPECT_GT(cache.trials(), 0U);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, WithoutAnyRuntimeAreNoneAfterOneAllgather) {
    run_ranks(2, [](Rank& rank) {
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache, false).ok());
        EXPECT_TRUE(party.peers->devices().empty());
        EXPECT_EQ(party.allgathers, 1);
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("uses no device"));
    });
}

TEST(DevicePeers, SomeRanksMayHaveNoRuntime) {
    FakeNode node(1);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache, rank.rank() != 1).ok());
        EXPECT_THAT(party.peers->devices().at(0).ranks, ElementsAre(0, 2));
        EXPECT_TRUE(party.peers->may_reach(0, 0, 2, 0));
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_EQ(party.peers->local_device(0), rank.rank() == 1 ? -1 : 0);
        expect_alike_on_all_ranks(rank, *party.peers);
    });
}

TEST(DevicePeers, ADeviceThatBecomesActiveLaterIsNotAmongThem) {
    FakeNode node(2);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        process.make_active(1);
        EXPECT_EQ(party.peers->index_of(FakeProcess::runtime(), 1), std::nullopt);
        ASSERT_TRUE(party.set_up({}, cache).ok());
        EXPECT_EQ(party.peers->index_of(FakeProcess::runtime(), 1), 1U) << "but among the next communicator's";
    });
}

TEST(DevicePeers, OfALaterCommunicatorAreNotProvenAgain) {
    FakeNode node(2);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {rank.rank() % 2});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up({}, cache).ok());
        const std::string first = reach_table(*party.peers, 4);
        const std::uint64_t trials = cache.trials();
        const std::uint64_t imports = process.imports();
        EXPECT_GT(trials, 0U);
        ASSERT_TRUE(party.set_up({}, cache).ok());
        EXPECT_EQ(cache.trials(), trials);
        EXPECT_EQ(process.imports(), imports);
        EXPECT_EQ(reach_table(*party.peers, 4), first);
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("proven by kernel stores"));
    });
}

TEST(DevicePeers, OfOtherExecutorsProveOnlyTheirMappings) {
    FakeNode node(1);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party all(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(all.set_up({}, cache).ok());
        const std::uint64_t imports = process.imports();
        if (rank.rank() < 2) return;
        Party some(rank.exchange(2, rank.rank() - 2, 2), FakeProcess::runtime());
        ASSERT_TRUE(some.set_up({}, cache).ok());
        EXPECT_TRUE(some.peers->may_reach(0, 0, 1, 0));
        EXPECT_EQ(process.imports(), imports + (rank.rank() == 2 ? 1 : 0)) << "one word, and no path again";
    });
}

TEST(DevicePeers, OfACommunicatorWithNewProcessesAgreeOnWhatIsKnown) {
    FakeNode node(1);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        if (rank.rank() < 2) {
            Party some(rank.exchange(2, rank.rank(), 2), FakeProcess::runtime());
            ASSERT_TRUE(some.set_up({}, cache).ok());
        }
        Party all(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(all.set_up({}, cache).ok());
        for (int owner = 0; owner < 4; ++owner) EXPECT_TRUE(all.peers->may_reach(0, 0, owner, 0));
        EXPECT_THAT(all.peers->path_text(0, 3), HasSubstr("proven by kernel stores")) << "known to all ranks";
        expect_alike_on_all_ranks(rank, *all.peers);
        expect_nothing_left(rank, node, process);
    });
}

TEST(DevicePeers, TheMostCautiousRanksWordCounts) {
    FakeNode node(2);
    run_ranks(4, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {rank.rank() / 2});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        DevicePolicy policy;
        if (rank.rank() == 3) policy.level = PeerLevel::SameDevice;
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_FALSE(party.peers->may_reach(0, 0, 2, 1));
        EXPECT_THAT(party.peers->path_text(0, 2), HasSubstr("only ranks on one device"));
        if (rank.rank() == 1) policy.level = PeerLevel::Off;
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_TRUE(party.peers->may_reach(1, 0, 1, 0)) << "its own memory";
        expect_alike_on_all_ranks(rank, *party.peers);
    });
}

TEST(DevicePeers, AreNotProvenWhereNoRankWantsIt) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        DevicePolicy policy;
        policy.prove = false;
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_EQ(process.imports(), 0U);
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("not proven"));
        policy.prove = rank.rank() == 1;
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        EXPECT_EQ(process.imports() > 0, rank.rank() == 0);
    });
}

TEST(DevicePeers, APairThatOneRankExcludesIsExcludedForAll) {
    FakeNode node(3);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0, 1, 2}, {rank.rank()});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        DevicePolicy policy;
        if (rank.rank() == 2) policy.veto = "0000:12:00.0,GPU-d0d0d0d0-d0d0-d0d0-d0d0-d0d0d0d0d0d0";
        ASSERT_TRUE(party.set_up(policy, cache).ok());
        EXPECT_FALSE(party.peers->may_reach(0, 0, 2, 2));
        EXPECT_FALSE(party.peers->may_reach(2, 2, 0, 0));
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 1));
        EXPECT_THAT(party.peers->path_text(0, 2), HasSubstr("excludes this pair"));
        expect_alike_on_all_ranks(rank, *party.peers);
    });
}

TEST(DevicePeers, AWrongVetoOfOneRankIsTheErrorOfAll) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        DevicePolicy policy;
        if (rank.rank() == 1) policy.veto = "all";
        const Status status = party.set_up(policy, cache);
        EXPECT_EQ(status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(status.sentence(), HasSubstr("rank 1: \"all\""));
        EXPECT_EQ(party.peers, nullptr);
    });
}

TEST(DevicePeers, ReachNothingOnAnotherNode) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        party.identities[1].boot_id += 1;
        ASSERT_TRUE(party.set_up({}, cache).ok());
        EXPECT_EQ(party.peers->devices().size(), 2U) << "the same UUID on another host is another device";
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 1));
        EXPECT_EQ(process.imports(), 0U);
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("different hosts"));
        expect_alike_on_all_ranks(rank, *party.peers);
    });
}

TEST(DevicePeers, AFailedAllgatherIsTheCallersError) {
    FakeNode node(1);
    run_ranks(1, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        peercoll_comm_params_t comm{};
        comm.size = 2;
        comm.allgather = [](const void*, void*, std::size_t, void*) { return 1; };
        const std::vector<ProcessIdentity> identities{party.identities[0], party.identities[0]};
        EXPECT_EQ(
            DevicePeers::set_up({&FakeProcess::runtime()}, comm, identities, {0, 0}, {}, cache, party.peers).code(),
            PEERCOLL_ERR_CALLBACK);
        EXPECT_EQ(party.peers, nullptr);
    });
}

}  // namespace
}  // namespace peercoll
