// SPDX-License-Identifier: BSD-3-Clause
// The rules of the choice among broadcast algorithms. The numbers in its table are measured and may change; these rules
// hold whatever they are.
#include "collectives/broadcast/select.hpp"
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

void PrintTo(BroadcastAlgorithm algorithm, std::ostream* stream) {
    *stream << broadcast_algorithm_names[static_cast<std::size_t>(algorithm)];
}

namespace {

using test::numbers_of_ranks;
using test::sizes_around_thresholds;

constexpr std::array forceable{BroadcastAlgorithm::Packets, BroadcastAlgorithm::Staged, BroadcastAlgorithm::Grouped,
                               BroadcastAlgorithm::SingleCopy};

BroadcastSituation situation_of(std::size_t bytes, int ranks, bool groups, bool single_copy,
                                BroadcastAlgorithm forced = BroadcastAlgorithm::Auto) {
    BroadcastSituation situation;
    situation.bytes = bytes;
    situation.ranks = ranks;
    situation.groups = groups;
    situation.single_copy = single_copy;
    situation.forced = forced;
    return situation;
}

// Calls check(situation) for everything an automatic choice can meet; stops at the first failure.
template <typename Check>
void for_all_situations(Check check, BroadcastAlgorithm forced = BroadcastAlgorithm::Auto) {
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

TEST(BroadcastChoice, EverythingThatCanBeForcedIsTestedHere) {
    EXPECT_EQ(forceable.size() + 1, broadcast_algorithm_names.size()) << "a new algorithm needs its rules here";
}

// Of every candidate, once for each.
std::vector<BroadcastAlgorithm> algorithms_of(const Candidates<BroadcastAlgorithm>& candidates) {
    std::vector<BroadcastAlgorithm> algorithms;
    for (const auto& candidate : candidates)
        if (std::count(algorithms.begin(), algorithms.end(), candidate.algorithm) == 0)
            algorithms.push_back(candidate.algorithm);
    return algorithms;
}

TEST(BroadcastChoice, OffersOnlyAlgorithmsThatCanDoIt) {
    for_all_situations([](const BroadcastSituation& situation) {
        const auto candidates = select_broadcast(situation);
        EXPECT_GE(candidates.size(), 1U);
        EXPECT_LE(candidates.size(), most_candidates);
        for (const auto& candidate : candidates) {
            EXPECT_NE(candidate.algorithm, BroadcastAlgorithm::Auto);
            EXPECT_LT(static_cast<std::size_t>(candidate.algorithm), broadcast_algorithm_names.size());
            EXPECT_TRUE(candidate.algorithm != BroadcastAlgorithm::Packets || situation.bytes <= packet_max_bytes);
            EXPECT_TRUE(candidate.algorithm != BroadcastAlgorithm::SingleCopy || situation.single_copy);
            EXPECT_TRUE(candidate.algorithm != BroadcastAlgorithm::Grouped || situation.groups);
        }
    });
}

TEST(BroadcastChoice, OffersNoCandidateTwice) {
    for_all_situations([](const BroadcastSituation& situation) {
        const auto candidates = select_broadcast(situation);
        for (const auto& candidate : candidates)
            EXPECT_EQ(std::count(candidates.begin(), candidates.end(), candidate), 1);
    });
}

TEST(BroadcastChoice, HonoursWhatIsForcedAndElseTakesTheDocumentedNext) {
    for (const BroadcastAlgorithm forced : forceable)
        for_all_situations(
            [](const BroadcastSituation& situation) {
                BroadcastAlgorithm expected = situation.forced;
                if (expected == BroadcastAlgorithm::Packets && situation.bytes > packet_max_bytes)
                    expected = BroadcastAlgorithm::Staged;
                if (expected == BroadcastAlgorithm::Grouped && !situation.groups) expected = BroadcastAlgorithm::Staged;
                if (expected == BroadcastAlgorithm::SingleCopy && !situation.single_copy)
                    expected = BroadcastAlgorithm::Staged;
                EXPECT_EQ(algorithms_of(select_broadcast(situation)), std::vector{expected});
                EXPECT_EQ(select_broadcast(situation).size(), 1U) << "nothing is left to be tried";
            },
            forced);
}

TEST(BroadcastChoice, EachAlgorithmHasOneRangeOfSizes) {
    for (const int ranks : numbers_of_ranks())
        for (const bool groups : {false, true})
            for (const bool single_copy : {false, true}) {
                std::set<BroadcastAlgorithm> given_up;
                std::vector<BroadcastAlgorithm> before;
                for (const std::size_t bytes : sizes_around_thresholds()) {
                    const auto now = algorithms_of(select_broadcast(situation_of(bytes, ranks, groups, single_copy)));
                    for (const BroadcastAlgorithm algorithm : before)
                        if (std::count(now.begin(), now.end(), algorithm) == 0) given_up.insert(algorithm);
                    for (const BroadcastAlgorithm algorithm : now)
                        EXPECT_FALSE(given_up.contains(algorithm))
                            << broadcast_algorithm_names[static_cast<std::size_t>(algorithm)]
                            << " given up and taken again at " << bytes << " bytes, " << ranks << " ranks";
                    before = now;
                }
            }
}

TEST(BroadcastChoice, TheSmallestMessageGoesInPacketsWithoutTrials) {
    for (const int ranks : numbers_of_ranks())
        EXPECT_EQ(algorithms_of(select_broadcast(situation_of(8, ranks, true, true))),
                  std::vector{BroadcastAlgorithm::Packets})
            << ranks;
}

TEST(BroadcastChoice, WhatTheNodeOffersChangesOnlyChoicesOfWhatItOffers) {
    for_all_situations([](const BroadcastSituation& situation) {
        const auto candidates = select_broadcast(situation);
        for (const auto& candidate : candidates)
            if (candidate.algorithm == BroadcastAlgorithm::Grouped ||
                candidate.algorithm == BroadcastAlgorithm::SingleCopy)
                return;
        BroadcastSituation less = situation;
        less.groups = false;
        less.single_copy = false;
        EXPECT_EQ(algorithms_of(select_broadcast(less)), algorithms_of(candidates));
    });
}

// A trial remembers its candidates by number, for all sizes up to a power of two and more than half of it.
TEST(BroadcastChoice, SizesThatShareATrialShareItsCandidates) {
    for (const int ranks : numbers_of_ranks())
        for (const bool single_copy : {false, true})
            for (const bool groups : {false, true}) {
                Trials trials;
                std::map<const Trials::Size*, std::vector<Candidate<BroadcastAlgorithm>>> tried;
                for (const std::size_t bytes : sizes_around_thresholds()) {
                    const auto candidates = select_broadcast(situation_of(bytes, ranks, groups, single_copy));
                    if (candidates.size() == 1) continue;  // nothing to try
                    const std::vector list(candidates.begin(), candidates.end());
                    const auto known = tried.emplace(&trials.of(PEERCOLL_BROADCAST, bytes), list).first;
                    EXPECT_EQ(known->second, list) << bytes << " bytes, " << ranks << " ranks";
                }
            }
}

TEST(BroadcastCandidates, AreKeptOnceEachInTheirOrder) {
    Candidates<BroadcastAlgorithm> candidates;
    candidates.add({BroadcastAlgorithm::Staged, Stores::Streaming});
    candidates.add({BroadcastAlgorithm::Packets, Stores::Cached});
    candidates.add({BroadcastAlgorithm::Staged, Stores::Streaming});
    ASSERT_EQ(candidates.size(), 2U);
    candidates.add({BroadcastAlgorithm::Staged, Stores::Cached});
    ASSERT_EQ(candidates.size(), 3U) << "other stores are another candidate";
    EXPECT_EQ(candidates[0].stores, Stores::Streaming);
    EXPECT_EQ(candidates[1].algorithm, BroadcastAlgorithm::Packets);
}

}  // namespace
}  // namespace peercoll
