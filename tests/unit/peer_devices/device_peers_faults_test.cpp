// SPDX-License-Identifier: BSD-3-Clause
// Paths that do not hold what the runtime says: found out by data, a veto on all ranks, never an error, and nothing of
// the attempt is left behind.
#include "tests/unit/gather.hpp"
#include "tests/unit/peer_devices/fake_process.hpp"
#include "tests/unit/peer_devices/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

namespace peercoll {
namespace {

using test::FakeFaults;
using test::FakeNode;
using test::FakeProcess;
using test::Party;
using test::Rank;
using test::run_ranks;
using testing::HasSubstr;

DevicePolicy impatient() {
    DevicePolicy policy;
    policy.proof_limit = std::chrono::milliseconds(300 * test::patience);
    return policy;
}

struct Fault {
    const char* name;
    int rank;  // whose runtime has it: 0 is the executor, 1 the owner
    std::function<void(FakeFaults&)> set;
    const char* sentence;
};

class DevicePeersFaults : public testing::TestWithParam<Fault> {};

// Two ranks on one device, and a third on another one. Rank 0 executes for the first, and rank 1 owns.
TEST_P(DevicePeersFaults, AreAVetoOfThePathOnAllRanks) {
    FakeNode node(2);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {rank.rank() / 2});
        if (rank.rank() == GetParam().rank) GetParam().set(process.faults);
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        const Status status = party.set_up(impatient(), cache);
        ASSERT_TRUE(status.ok()) << status.sentence();
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_TRUE(party.peers->may_reach(0, 0, 0, 0)) << "its own memory needs no path";
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("staged through host memory"));
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr(GetParam().sentence));
        process.faults = {};
        EXPECT_TRUE(rank.exchange(1).meet());
        cache.release_ended();
        EXPECT_TRUE(rank.exchange(1).meet());
        EXPECT_EQ(node.mappings(), 0U);
        EXPECT_EQ(node.bytes_in_use(), 0U);
        EXPECT_EQ(process.streams(), 0U);
    });
}

INSTANTIATE_TEST_SUITE_P(
    Each, DevicePeersFaults,
    testing::Values(
        Fault{"KernelStoresLost", 0, [](FakeFaults& faults) { faults.kernel_stores_lost = true; },
              "a kernel's stores did not arrive (4096 of 4096 bytes)"},
        Fault{"CopiesLost", 0, [](FakeFaults& faults) { faults.copies_lost = true; }, "copies did not arrive"},
        Fault{"KernelLoadsWrong", 0, [](FakeFaults& faults) { faults.kernel_loads_wrong = true; },
              "a kernel's loads gave wrong data (1 of 4096 bytes)"},
        Fault{"CopyReadsWrong", 0, [](FakeFaults& faults) { faults.copy_reads_wrong = true; },
              "copies gave wrong data (1 of 4096 bytes)"},
        Fault{"ImportRefused", 0, [](FakeFaults& faults) { faults.import_refused = true; }, "imports are refused here"},
        Fault{"ShortMapping", 0, [](FakeFaults& faults) { faults.short_mapping = 1; }, "could not be mapped"},
        Fault{"ExportRefused", 1, [](FakeFaults& faults) { faults.export_refused = true; }, "exports are refused here"},
        Fault{"AllocationRefusedAtTheExecutor", 0, [](FakeFaults& faults) { faults.allocation_refused = true; },
              "no memory is left"},
        Fault{"AllocationRefusedAtTheOwner", 1, [](FakeFaults& faults) { faults.allocation_refused = true; },
              "no memory is left"},
        Fault{"WorkFailsAtTheExecutor", 0, [](FakeFaults& faults) { faults.work_fails = true; }, "fallen off the bus"},
        Fault{"WorkFailsAtTheOwner", 1, [](FakeFaults& faults) { faults.work_fails = true; }, "fallen off the bus"}),
    [](const auto& fault) { return fault.param.name; });

TEST(DevicePeersFault, OfOnePairLeavesTheOthersAlone) {
    FakeNode node(3);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0, 1, 2}, {rank.rank()});
        process.faults.export_refused = rank.rank() == 2;
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 1));
        EXPECT_TRUE(party.peers->may_reach(1, 1, 0, 0));
        EXPECT_FALSE(party.peers->may_reach(0, 0, 2, 2));
        EXPECT_FALSE(party.peers->may_reach(2, 2, 0, 0)) << "both ends alike, though this direction was right";
    });
}

TEST(DevicePeersFault, OfTheMachineIsRememberedForTheJob) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.kernel_stores_lost = true;
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        const std::string why = party.peers->path_text(0, 1);
        process.faults = {};
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_EQ(party.peers->path_text(0, 1), why);
    });
}

TEST(DevicePeersFault, OfTheMomentIsTriedAgain) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.allocation_refused = rank.rank() == 0;
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
        process.faults = {};
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 0)) << party.peers->path_text(0, 1);
    });
}

TEST(DevicePeersFault, OfWorkThatNeverEndsIsAVetoInTimeAndFreesNothingThatIsInUse) {
    FakeNode node(1);
    run_ranks(2,
              [&](Rank& rank) {
                  FakeProcess process(node, {0}, {0});
                  process.faults.work_never_ends = rank.rank() == 0;
                  ProofCache cache;
                  Party party(rank.exchange(), FakeProcess::runtime());
                  ASSERT_TRUE(party.set_up(impatient(), cache).ok());
                  EXPECT_FALSE(party.peers->may_reach(0, 0, 1, 0));
                  EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("did not end in time"));
                  EXPECT_TRUE(rank.exchange(1).meet());
                  EXPECT_GT(cache.kept(), 0U)
                      << "the executor's work runs, and it may still write to what the owner has";
                  EXPECT_GT(node.mappings(), 0U);
                  EXPECT_TRUE(rank.exchange(1).meet());
                  process.faults = {};
                  while (rank.rank() == 0 && cache.kept() > 0) cache.release_ended();
                  EXPECT_TRUE(rank.exchange(1).meet());
                  EXPECT_EQ(node.mappings(), 0U) << "it has ended after all";
                  EXPECT_EQ(cache.kept(), rank.rank() == 0 ? 0U : 1U) << "the owner cannot know that";
              },
              {.look_for_leaks = false});
}

TEST(DevicePeersFault, OfADeviceWithoutKernelsIsNone) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.no_kernels = true;
        process.faults.kernel_stores_lost = true;
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 0));
        EXPECT_THAT(party.peers->path_text(0, 1), HasSubstr("direct copies (proven by copies, both ways"));
    });
}

TEST(DevicePeersFault, OfOneRanksMemoryConcernsThatRankAlone) {
    FakeNode node(1);
    run_ranks(3, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.export_refused = rank.rank() == 2;
        ProofCache cache;
        Party party(rank.exchange(), FakeProcess::runtime());
        ASSERT_TRUE(party.set_up(impatient(), cache).ok());
        EXPECT_TRUE(party.peers->may_reach(0, 0, 1, 0)) << party.peers->path_text(0, 1);
        EXPECT_FALSE(party.peers->may_reach(0, 0, 2, 0));
        EXPECT_THAT(party.peers->path_text(0, 2), HasSubstr("could not be shared"));
    });
}

}  // namespace
}  // namespace peercoll
