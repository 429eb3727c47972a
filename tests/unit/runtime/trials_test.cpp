// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/trials.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace peercoll {
namespace {

constexpr Trials::Pattern patterns[] = {Trials::of_shortest, Trials::of_short, Trials::of_long};
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

TEST(Trials, UseTheCandidatesInTurnUntilEachHadItsRows) {
    for (const Trials::Pattern pattern : patterns) {
        Trials::Size size;
        size.pattern = pattern;
        std::vector<std::size_t> used;
        while (!size.must_agree(3)) {
            used.push_back(size.next(3));
            size.record(used.back(), 100);
        }
        std::vector<std::size_t> expected;
        for (std::uint32_t row = 0; row < pattern.rows; ++row)
            for (const std::size_t candidate : {0U, 1U, 2U})
                expected.insert(expected.end(), pattern.in_a_row, candidate);
        EXPECT_EQ(used, expected);
    }
}

TEST(Trials, KeepTheBestTimeOfEachCandidate) {
    Trials::Size size;
    for (const std::uint64_t time : {70, 50, 60}) size.record(1, time);
    size.record(0, 80);
    EXPECT_EQ(size.best[0], 80U);
    EXPECT_EQ(size.best[1], 50U);
    EXPECT_EQ(size.best[2], never) << "was not tried";
}

TEST(Trials, DoNotCountTheFirstCallOfARowThatTheCandidateBeforeHasPrepared) {
    Trials::Size size;
    size.pattern = {2, 3};
    for (const std::uint64_t time : {10, 70, 60}) size.record(size.next(2), time);
    EXPECT_EQ(size.best[0], 60U);
    EXPECT_EQ(size.next(2), 1U);
    size.record(1, 10);
    EXPECT_EQ(size.best[1], never);
}

TEST(Trials, OfMessagesOfAQuarterOfTheCellsGoRoundThemAll) {
    Trials trials;
    const Trials::Size& small = trials.of(PEERCOLL_ALLREDUCE, 128 << 10);
    const Trials::Size& large = trials.of(PEERCOLL_ALLREDUCE, 16 << 20);
    EXPECT_GT(small.pattern.in_a_row, 4U) << "there are four quarters";
    EXPECT_LE(large.pattern.in_a_row * large.pattern.rows, 4U) << "each call takes long";
}

TEST(Trials, OfMessagesThatStayInTheCachesComeToTheSameBuffersAgainOfAProgramThatUsesEightInTurn) {
    Trials trials;
    EXPECT_GT(trials.of(PEERCOLL_BROADCAST, 32 << 10).pattern.in_a_row, 8U);
    EXPECT_GT(trials.of(PEERCOLL_BROADCAST, 64 << 10).pattern.in_a_row, 8U);
}

TEST(Trials, StayWithWhatWasAgreed) {
    for (const Trials::Pattern pattern : patterns) {
        Trials::Size size;
        size.pattern = pattern;
        for (std::uint32_t i = 0; i < 2 * pattern.rows * pattern.in_a_row; ++i) size.record(size.next(2), 10);
        ASSERT_TRUE(size.must_agree(2));
        size.decide(1);
        for (int i = 0; i < 5; ++i) {
            EXPECT_FALSE(size.must_agree(2));
            EXPECT_EQ(size.next(2), 1U);
        }
    }
}

TEST(Trials, AreOfSizesWithinAFactorOfTwoAndOfOneCollective) {
    Trials trials;
    EXPECT_EQ(&trials.of(PEERCOLL_ALLREDUCE, 65537), &trials.of(PEERCOLL_ALLREDUCE, 131072));
    EXPECT_NE(&trials.of(PEERCOLL_ALLREDUCE, 65536), &trials.of(PEERCOLL_ALLREDUCE, 65537));
    EXPECT_NE(&trials.of(PEERCOLL_ALLREDUCE, 4096), &trials.of(PEERCOLL_BROADCAST, 4096));
    std::vector<Trials::Size*> seen;
    for (int power = 0; power < 64; ++power) {
        Trials::Size& size = trials.of(PEERCOLL_BROADCAST, std::size_t{1} << power);
        for (const Trials::Size* other : seen) EXPECT_NE(&size, other);
        seen.push_back(&size);
    }
    trials.of(PEERCOLL_BROADCAST, std::numeric_limits<std::size_t>::max()).record(0, 1);
    trials.of(PEERCOLL_BROADCAST, 0).record(0, 1);
}

}  // namespace
}  // namespace peercoll
