// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/standby_policy.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace peercoll::test {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 30us;
constexpr StandbyPolicy::Clock::time_point begin{1h};

// Launches of one stream on a clock of its own.
class Stream {
public:
    // The next fold, so long after the last one; whether its kernel stays.
    bool launch(std::chrono::nanoseconds later) { return policy.stays(now += later, patience); }
    // How many folds, each in time, are launched until one stays.
    int launches_until_one_stays() {
        for (int launches = 1; launches < 100'000; ++launches) {
            if (launch(10us)) return launches;
        }
        return 0;
    }

    StandbyPolicy policy;
    StandbyPolicy::Clock::time_point now = begin;
};

TEST(StandbyPolicy, StaysFromTheThirdFoldInTimeOn) {
    Stream stream;
    EXPECT_FALSE(stream.launch(0us));
    EXPECT_FALSE(stream.launch(10us));
    EXPECT_TRUE(stream.launch(10us));
}

TEST(StandbyPolicy, NeverStaysWhereFoldsComeLate) {
    Stream stream;
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(stream.launch(31us));
        EXPECT_FALSE(stream.launch(10us)) << "one in time is no row";
    }
}

TEST(StandbyPolicy, DoesWithoutForTwiceAsLongEachTimeThatStayingWasOfNoUse) {
    Stream stream;
    stream.launches_until_one_stays();
    int expected = StandbyPolicy::least_without;
    for (int i = 0; i < 6; ++i) {
        stream.policy.gone();
        EXPECT_EQ(stream.launches_until_one_stays(), expected + 1);
        expected *= 2;
    }
}

TEST(StandbyPolicy, DoesWithoutForNoLongerThanItsMost) {
    Stream stream;
    stream.launches_until_one_stays();
    for (int i = 0; i < 20; ++i) {
        stream.policy.gone();
        stream.launches_until_one_stays();
    }
    stream.policy.gone();
    EXPECT_EQ(stream.launches_until_one_stays(), static_cast<int>(StandbyPolicy::most_without) + 1);
}

TEST(StandbyPolicy, GoesOnAfterAKernelThatTookSeveral) {
    Stream stream;
    stream.launches_until_one_stays();
    for (std::uint32_t i = 0; i < StandbyPolicy::worth; ++i) stream.policy.taken(stream.now += 10us);
    stream.policy.gone();
    EXPECT_TRUE(stream.launch(10us));
}

TEST(StandbyPolicy, ForgivesAfterAKernelThatTookMany) {
    Stream stream;
    stream.launches_until_one_stays();
    for (int i = 0; i < 5; ++i) {
        stream.policy.gone();
        stream.launches_until_one_stays();
    }
    for (std::uint32_t i = 0; i < StandbyPolicy::forgiven_after; ++i) stream.policy.taken(stream.now += 10us);
    stream.policy.gone();
    stream.launches_until_one_stays();
    stream.policy.gone();
    EXPECT_EQ(stream.launches_until_one_stays(), static_cast<int>(StandbyPolicy::least_without) + 1);
}

}  // namespace
}  // namespace peercoll::test
