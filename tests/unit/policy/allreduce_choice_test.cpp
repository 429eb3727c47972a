// SPDX-License-Identifier: BSD-3-Clause
// The rules of the choice among allreduce algorithms. The numbers in its table are measured and may change; these rules
// hold whatever they are.
#include "collectives/allreduce/select.hpp"
#include "collectives/host/segment_layout.hpp"
#include "plugin/runtime/trials.hpp"
#include "tests/unit/policy/situations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <vector>

namespace peercoll {

void PrintTo(AllreduceAlgorithm algorithm, std::ostream* stream) {
    *stream << allreduce_algorithm_names[static_cast<std::size_t>(algorithm)];
}

namespace {

using test::numbers_of_ranks;
using test::sizes_around_thresholds;

constexpr std::array forceable{AllreduceAlgorithm::Packets, AllreduceAlgorithm::Slots, AllreduceAlgorithm::Staged,
                               AllreduceAlgorithm::Grouped, AllreduceAlgorithm::SingleCopy};

AllreduceSituation situation_of(std::size_t bytes, int ranks, bool groups, bool single_copy,
                                AllreduceAlgorithm forced = AllreduceAlgorithm::Auto) {
    AllreduceSituation situation;
    situation.bytes = bytes;
    situation.ranks = ranks;
    situation.groups = groups;
    situation.single_copy = single_copy;
    situation.forced = forced;
    return situation;
}

// Calls check(situation) for everything an automatic choice can meet; stops at the first failure.
template <typename Check>
void for_all_situations(Check check, AllreduceAlgorithm forced = AllreduceAlgorithm::Auto) {
    for (const int ranks : numbers_of_ranks())
        for (const std::size_t bytes : sizes_around_thresholds())
            for (const bool groups : {false, true})
                for (const bool single_copy : {false, true}) {
                    check(situation_of(bytes, ranks, groups, single_copy, forced));
                    if (testing::Test::HasFailure()) {
                        ADD_FAILURE() << bytes << " bytes, " << ranks << " ranks, groups " << groups << ", single copy "
                                      << single_copy;
                        return;
                    }
                }
}

TEST(AllreduceChoice, EverythingThatCanBeForcedIsTestedHere) {
    EXPECT_EQ(forceable.size() + 1, allreduce_algorithm_names.size()) << "a new algorithm needs its rules here";
}

// Of every candidate, once for each.
std::vector<AllreduceAlgorithm> algorithms_of(const Candidates<AllreduceAlgorithm>& candidates) {
    std::vector<AllreduceAlgorithm> algorithms;
    for (const auto& candidate : candidates)
        if (std::count(algorithms.begin(), algorithms.end(), candidate.algorithm) == 0)
            algorithms.push_back(candidate.algorithm);
    return algorithms;
}

TEST(AllreduceChoice, OffersOnlyAlgorithmsThatCanDoIt) {
    for_all_situations([](const AllreduceSituation& situation) {
        const auto candidates = select_allreduce(situation);
        EXPECT_GE(candidates.size(), 1U);
        EXPECT_LE(candidates.size(), most_candidates);
        for (const auto& candidate : candidates) {
            EXPECT_NE(candidate.algorithm, AllreduceAlgorithm::Auto);
            EXPECT_LT(static_cast<std::size_t>(candidate.algorithm), allreduce_algorithm_names.size());
            EXPECT_TRUE(candidate.algorithm != AllreduceAlgorithm::Packets || situation.bytes <= packet_max_bytes);
            EXPECT_TRUE(candidate.algorithm != AllreduceAlgorithm::SingleCopy || situation.single_copy);
            EXPECT_TRUE(candidate.algorithm != AllreduceAlgorithm::Grouped || situation.groups);
        }
    });
}

TEST(AllreduceChoice, OffersNoCandidateTwice) {
    for_all_situations([](const AllreduceSituation& situation) {
        const auto candidates = select_allreduce(situation);
        for (const auto& candidate : candidates)
            EXPECT_EQ(std::count(candidates.begin(), candidates.end(), candidate), 1);
    });
}

TEST(AllreduceChoice, HonoursWhatIsForcedAndElseTakesTheDocumentedNext) {
    for (const AllreduceAlgorithm forced : forceable)
        for_all_situations(
            [](const AllreduceSituation& situation) {
                AllreduceAlgorithm expected = situation.forced;
                if (expected == AllreduceAlgorithm::Packets && situation.bytes > packet_max_bytes)
                    expected = AllreduceAlgorithm::Slots;
                if (expected == AllreduceAlgorithm::Grouped && !situation.groups) expected = AllreduceAlgorithm::Staged;
                if (expected == AllreduceAlgorithm::SingleCopy && !situation.single_copy)
                    expected = AllreduceAlgorithm::Staged;
                EXPECT_EQ(algorithms_of(select_allreduce(situation)), std::vector{expected});
                EXPECT_EQ(select_allreduce(situation).size(), 1U) << "nothing is left to be tried";
            },
            forced);
}

TEST(AllreduceChoice, EachAlgorithmHasOneRangeOfSizes) {
    for (const int ranks : numbers_of_ranks())
        for (const bool groups : {false, true})
            for (const bool single_copy : {false, true}) {
                std::set<AllreduceAlgorithm> given_up;
                std::vector<AllreduceAlgorithm> before;
                for (const std::size_t bytes : sizes_around_thresholds()) {
                    const auto now = algorithms_of(select_allreduce(situation_of(bytes, ranks, groups, single_copy)));
                    for (const AllreduceAlgorithm algorithm : before)
                        if (std::count(now.begin(), now.end(), algorithm) == 0) given_up.insert(algorithm);
                    for (const AllreduceAlgorithm algorithm : now)
                        EXPECT_FALSE(given_up.contains(algorithm))
                            << allreduce_algorithm_names[static_cast<std::size_t>(algorithm)]
                            << " given up and taken again at " << bytes << " bytes, " << ranks << " ranks";
                    before = now;
                }
            }
}

TEST(AllreduceChoice, TheSmallestMessageGoesInPacketsWithoutTrials) {
    for (const int ranks : numbers_of_ranks())
        EXPECT_EQ(algorithms_of(select_allreduce(situation_of(8, ranks, true, true))),
                  std::vector{AllreduceAlgorithm::Packets})
            << ranks;
}

TEST(AllreduceChoice, OfManyRanksLargeMessagesAreNotReadWholeByEveryRank) {
    for (const int ranks : numbers_of_ranks()) {
        if (ranks == 2) continue;  // two ranks read as much with any algorithm
        for (const bool flags : {false, true})
            for (const auto& candidate : select_allreduce(situation_of(std::size_t{1} << 30, ranks, flags, flags)))
                EXPECT_NE(candidate.algorithm, AllreduceAlgorithm::Slots) << ranks;
    }
}

TEST(AllreduceChoice, WhatTheNodeOffersChangesOnlyChoicesOfWhatItOffers) {
    for_all_situations([](const AllreduceSituation& situation) {
        const auto candidates = select_allreduce(situation);
        for (const auto& candidate : candidates)
            if (candidate.algorithm == AllreduceAlgorithm::Grouped ||
                candidate.algorithm == AllreduceAlgorithm::SingleCopy)
                return;
        AllreduceSituation less = situation;
        less.groups = false;
        less.single_copy = false;
        EXPECT_EQ(algorithms_of(select_allreduce(less)), algorithms_of(candidates));
    });
}

// A trial remembers its candidates by number, for all sizes up to a power of two and more than half of it.
TEST(AllreduceChoice, SizesThatShareATrialShareItsCandidates) {
    for (const int ranks : numbers_of_ranks())
        for (const bool single_copy : {false, true})
            for (const bool groups : {false, true}) {
                Trials trials;
                std::map<const Trials::Size*, std::vector<Candidate<AllreduceAlgorithm>>> tried;
                for (const std::size_t bytes : sizes_around_thresholds()) {
                    const auto candidates = select_allreduce(situation_of(bytes, ranks, groups, single_copy));
                    if (candidates.size() == 1) continue;  // nothing to try
                    const std::vector list(candidates.begin(), candidates.end());
                    const auto known = tried.emplace(&trials.of(PEERCOLL_ALLREDUCE, bytes), list).first;
                    EXPECT_EQ(known->second, list) << bytes << " bytes, " << ranks << " ranks";
                }
            }
}

// An operation that needs rank order cannot take the groups, but is the same trial as all others of its size.
TEST(AllreduceChoice, IsTriedAmongAsManyWithGroupsAsWithout) {
    for_all_situations([](const AllreduceSituation& situation) {
        AllreduceSituation other = situation;
        other.groups = !situation.groups;
        EXPECT_EQ(select_allreduce(situation).size(), select_allreduce(other).size());
    });
}

TEST(AllreduceCandidates, AreKeptOnceEachInTheirOrder) {
    Candidates<AllreduceAlgorithm> candidates;
    candidates.add({AllreduceAlgorithm::Staged, Stores::Streaming});
    candidates.add({AllreduceAlgorithm::Packets, Stores::Cached});
    candidates.add({AllreduceAlgorithm::Staged, Stores::Streaming});
    ASSERT_EQ(candidates.size(), 2U);
    candidates.add({AllreduceAlgorithm::Staged, Stores::Cached});
    ASSERT_EQ(candidates.size(), 3U) << "other stores are another candidate";
    EXPECT_EQ(candidates[0].stores, Stores::Streaming);
    EXPECT_EQ(candidates[1].algorithm, AllreduceAlgorithm::Packets);
}

}  // namespace
}  // namespace peercoll
