// SPDX-License-Identifier: BSD-3-Clause
// The pair matrix of invented nodes.
#include "plugin/peer/pair_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace peercoll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Facts that are put together rank by rank; at first all is possible between all devices.
struct Facts {
    std::vector<PeerDevice> devices;
    std::vector<RankDevices> ranks;

    explicit Facts(std::size_t n) : devices(n) {
        for (std::size_t i = 0; i < n; ++i) {
            devices[i].runtime = "fake";
            devices[i].uuid.fill(static_cast<std::uint8_t>(i + 1));
        }
    }
    // All ranks' runtimes map memory of devices, too, that the ranks do not see.
    Facts& mapping_unseen() {
        for (RankDevices& one : ranks)
            for (SeenDevice& seen : one.seen) seen.imports_unseen = true;
        return *this;
    }
    // A rank that uses `active` and sees `others`, too.
    Facts& rank(std::uint32_t active, const std::vector<std::uint32_t>& others = {}) {
        const int number = static_cast<int>(ranks.size());
        RankDevices one;
        one.identity.boot_id = 7;
        one.identity.uid = 1000;
        one.identity.pid_namespace = 5;
        one.identity.pid = 100 + number;
        const std::vector<std::uint8_t> all(devices.size(), PairFact::can_access);
        one.seen.push_back({active, true, true, false, all});
        for (const std::uint32_t other : others)
            if (other != active) one.seen.push_back({other, false, true, false, all});
        ranks.push_back(one);
        devices[active].ranks.push_back(number);
        return *this;
    }
    PairMatrix matrix(PeerLevel level = PeerLevel::All) const { return {devices, ranks, level}; }
};

const std::vector<std::uint32_t> both{0, 1};

TEST(PairMatrix, RanksOfOneDeviceReachEachOther) {
    const PairMatrix matrix = Facts(1).rank(0).rank(0).matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 0), Reach::Possible);
    EXPECT_EQ(matrix.reach(0, 0, 0, 0), Reach::Own);
    EXPECT_THAT(matrix.trials(), ElementsAre(PathTrial{0, 0, 0, 1, true}));
}

TEST(PairMatrix, OneRankAloneHasNothingToProve) {
    EXPECT_THAT(Facts(1).rank(0).matrix().trials(), IsEmpty());
}

TEST(PairMatrix, EachOrderedPairIsProvenByItsFirstRanks) {
    const PairMatrix matrix = Facts(2).rank(1, both).rank(0, both).rank(1, both).matrix();
    EXPECT_THAT(matrix.trials(),
                ElementsAre(PathTrial{0, 1, 1, 0, true}, PathTrial{1, 0, 0, 1, true}, PathTrial{1, 1, 0, 2, true}));
}

TEST(PairMatrix, TwoIslandsHaveNoPathBetweenThem) {
    Facts facts(4);
    for (std::uint32_t device = 0; device < 4; ++device) facts.rank(device, {0, 1, 2, 3});
    for (RankDevices& rank : facts.ranks)
        for (SeenDevice& seen : rank.seen)
            for (std::uint32_t other = 0; other < 4; ++other)
                if (other / 2 != seen.device / 2) seen.pairs[other] = 0;
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::Possible);
    EXPECT_EQ(matrix.reach(1, 1, 2, 2), Reach::NoPeerAccess);
    EXPECT_EQ(matrix.trials().size(), 4U) << "0-1, 1-0, 2-3, 3-2";
}

TEST(PairMatrix, PartitionsOfOneGpuAreDifferentDevices) {
    Facts facts(2);
    facts.devices[0].pci_id = facts.devices[1].pci_id = "0000:1b:00.0";
    facts.rank(0).rank(1).rank(1);
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::NotVisible) << "one PCI id, but another UUID";
    EXPECT_EQ(matrix.reach(1, 1, 2, 1), Reach::Possible);
}

TEST(PairMatrix, ARankReachesOnlyDevicesThatItSees) {
    const PairMatrix matrix = Facts(2).rank(0).rank(1, both).matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::NotVisible);
    EXPECT_EQ(matrix.reach(1, 1, 0, 0), Reach::Possible);
}

TEST(PairMatrix, WhatARankDoesNotSeeIsToBeProvenWhereItsRuntimeMapsSuchMemory) {
    Facts facts = Facts(2).rank(0).rank(1).mapping_unseen();
    // Nobody has been able to ask.
    for (RankDevices& rank : facts.ranks) rank.seen.front().pairs.assign(2, 0);
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::Possible);
    EXPECT_EQ(matrix.reach(1, 1, 0, 0), Reach::Possible);
    EXPECT_THAT(matrix.trials(), ElementsAre(PathTrial{0, 1, 0, 1, true}, PathTrial{1, 0, 1, 0, true}));
    EXPECT_TRUE(matrix.sees(0, 0));
    EXPECT_FALSE(matrix.sees(0, 1));
}

TEST(PairMatrix, WhatARankSeesIsAskedOfItsRuntimeWhateverThatMapsUnseen) {
    Facts facts = Facts(2).rank(0, both).rank(1, both).mapping_unseen();
    facts.ranks[0].seen.front().pairs.assign(2, 0);
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 1), Reach::NoPeerAccess);
}

TEST(PairMatrix, AVetoOfTheOneRankCountsForAnotherThatDoesNotSeeTheDevice) {
    Facts facts = Facts(2).rank(0).rank(1, both).mapping_unseen();
    facts.ranks[1].seen.front().pairs[0] |= PairFact::vetoed;
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 1), Reach::Vetoed);
}

TEST(PairMatrix, HandlesOfUnseenDevicesMeanNothingToOtherUsersEither) {
    Facts facts = Facts(2).rank(0).rank(1).mapping_unseen();
    facts.ranks[1].identity.uid = 1001;
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 1), Reach::OtherUser);
    facts.ranks[1].identity.uid = facts.ranks[0].identity.uid;
    facts.ranks[1].identity.pid_namespace = 6;
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 1), Reach::OtherPidNamespace);
}

TEST(PairMatrix, ADeviceThatARankSeesButDoesNotUseIsNotReachedThere) {
    const PairMatrix matrix = Facts(2).rank(0, both).rank(1, both).matrix();
    EXPECT_EQ(matrix.reach(0, 1, 1, 1), Reach::NotActive);
    EXPECT_EQ(matrix.reach(0, 0, 1, 0), Reach::NotActive);
}

TEST(PairMatrix, HandlesMeanNothingInAnotherPidOrUserNamespace) {
    Facts facts = Facts(1).rank(0).rank(0).rank(0);
    facts.ranks[1].identity.pid_namespace = 6;
    facts.ranks[2].identity.user_namespace = 6;
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 0), Reach::OtherPidNamespace);
    EXPECT_EQ(matrix.reach(0, 0, 2, 0), Reach::OtherPidNamespace);
}

TEST(PairMatrix, ProvesWithARankThatCanBeReachedIfTheFirstCannot) {
    Facts facts = Facts(1).rank(0).rank(0).rank(0);
    facts.ranks[1].identity.pid_namespace = 6;
    EXPECT_THAT(facts.matrix().trials(), ElementsAre(PathTrial{0, 0, 0, 2, true}));
}

TEST(PairMatrix, AnotherUsersMemoryIsNotReached) {
    Facts facts = Facts(1).rank(0).rank(0);
    facts.ranks[1].identity.uid = 1001;
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 0), Reach::OtherUser);
}

TEST(PairMatrix, NothingIsReachedOnAnotherHost) {
    Facts facts = Facts(2).rank(0, both).rank(1, both);
    facts.ranks[1].node = facts.devices[1].node = 1;
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::OtherNode);
    EXPECT_THAT(matrix.trials(), IsEmpty());
}

TEST(PairMatrix, ARuntimeThatImportsNothingReachesOnlyItsOwnProcess) {
    Facts facts = Facts(1).rank(0).rank(0);
    facts.ranks[0].seen[0].imports = false;
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 0), Reach::NoImport);
    EXPECT_EQ(facts.matrix().reach(1, 0, 0, 0), Reach::Possible);
}

TEST(PairMatrix, DevicesOfDifferentRuntimesHaveNoPath) {
    Facts facts = Facts(2).rank(0, both).rank(1, both);
    facts.devices[1].runtime = "other";
    EXPECT_EQ(facts.matrix().reach(0, 0, 1, 1), Reach::OtherRuntime);
}

TEST(PairMatrix, LevelsTakeAway) {
    const Facts facts = Facts(2).rank(0, both).rank(0, both).rank(1, both);
    EXPECT_EQ(facts.matrix(PeerLevel::SameDevice).reach(0, 0, 1, 0), Reach::Possible);
    EXPECT_EQ(facts.matrix(PeerLevel::SameDevice).reach(0, 0, 2, 1), Reach::LevelSameDevice);
    EXPECT_EQ(facts.matrix(PeerLevel::Off).reach(0, 0, 1, 0), Reach::LevelOff);
    EXPECT_EQ(facts.matrix(PeerLevel::Off).reach(0, 0, 0, 0), Reach::Own);
    EXPECT_THAT(facts.matrix(PeerLevel::Off).trials(), IsEmpty());
}

TEST(PairMatrix, AVetoOfOneRankCountsForBothDirectionsAndAllRanks) {
    Facts facts = Facts(2).rank(0, both).rank(1, both).rank(0, both);
    facts.ranks[2].seen[0].pairs[1] |= PairFact::vetoed;
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::Vetoed);
    EXPECT_EQ(matrix.reach(1, 1, 0, 0), Reach::Vetoed);
    EXPECT_EQ(matrix.reach(0, 0, 2, 0), Reach::Possible);
}

TEST(PairMatrix, RanksThatAreThreadsOfOneProcessNeedNoHandles) {
    Facts facts = Facts(2).rank(0, both).rank(1, both).rank(0, both);
    for (RankDevices& rank : facts.ranks) {
        rank.identity.pid = 100;
        rank.seen[0].imports = rank.seen[1].imports = false;
    }
    const PairMatrix matrix = facts.matrix();
    EXPECT_EQ(matrix.reach(0, 0, 2, 0), Reach::Own);
    EXPECT_EQ(matrix.reach(0, 0, 1, 1), Reach::Possible);
    EXPECT_THAT(matrix.trials(), ElementsAre(PathTrial{0, 1, 0, 1, false}, PathTrial{1, 0, 1, 0, false}));
}

TEST(PairMatrix, EveryAnswerHasItsSentence) {
    for (int reach = 0; reach <= static_cast<int>(Reach::OtherRuntime); ++reach)
        EXPECT_STRNE(text_of(static_cast<Reach>(reach)), "unknown") << reach;
}

}  // namespace
}  // namespace peercoll
