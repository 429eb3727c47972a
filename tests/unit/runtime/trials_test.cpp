// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/trials.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace peercoll {
namespace {

TEST(Trials, UseTheCandidatesInTurnUntilEachHadItsRounds) {
    Trials::Size size;
    std::vector<std::uint32_t> uses(3);
    while (!size.must_agree(3)) {
        const std::size_t candidate = size.next(3);
        ASSERT_LT(candidate, 3U);
        ++uses[candidate];
        size.record(candidate, 100);
    }
    EXPECT_EQ(uses, (std::vector<std::uint32_t>(3, Trials::rounds)));
}

TEST(Trials, KeepTheBestTimeOfEachCandidate) {
    Trials::Size size;
    for (const std::uint64_t time : {70, 50, 60}) size.record(1, time);
    size.record(0, 80);
    EXPECT_EQ(size.best[0], 80U);
    EXPECT_EQ(size.best[1], 50U);
    EXPECT_EQ(size.best[2], std::numeric_limits<std::uint64_t>::max()) << "was not tried";
}

TEST(Trials, StayWithWhatWasAgreed) {
    Trials::Size size;
    for (std::uint32_t i = 0; i < 2 * Trials::rounds; ++i) size.record(size.next(2), 10);
    ASSERT_TRUE(size.must_agree(2));
    size.decide(1);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(size.must_agree(2));
        EXPECT_EQ(size.next(2), 1U);
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
