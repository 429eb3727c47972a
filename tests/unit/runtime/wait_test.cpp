// SPDX-License-Identifier: BSD-3-Clause
// The one place that waits, with tasks that move when the test says so.
#include "plugin/runtime/wait.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace peercoll {
namespace {

using namespace std::chrono_literals;

constexpr WaitMode modes[] = {WaitMode::Auto, WaitMode::Spin, WaitMode::Yield, WaitMode::Sleep};
constexpr WaitPolicy::For waits[] = {WaitPolicy::For::Ranks, WaitPolicy::For::CrowdedRanks, WaitPolicy::For::Wire};

// Counts what a waiter calls, and gives up when told to.
struct Watched {
    explicit Watched(WaitPolicy policy, std::chrono::nanoseconds check_every = 1ms,
                     std::chrono::nanoseconds give_up_after = 60s)
        : waiter(
              policy, check_every, [this] { ++idles; },
              [this, give_up_after](std::chrono::nanoseconds waited) {
                  ++checks;
                  last_waited = waited;
                  return waited < give_up_after;
              }) {}
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    std::uint64_t idles = 0;
    std::uint64_t checks = 0;
    std::chrono::nanoseconds last_waited{0};
    Waiter waiter;
};

// Pending so often, or what else says that nothing moves, then `last`.
struct Script {
    std::uint64_t pending;
    Progress last;
    Progress idle = Progress::Pending;
    std::uint64_t polls = 0;
    Progress operator()() { return polls++ < pending ? idle : last; }
};

TEST(Waiter, ReturnsAtOnceWhatIsDoneOrHasFailed) {
    for (const WaitMode mode : modes)
        for (const Progress end : {Progress::Done, Progress::Failed}) {
            Watched watched(WaitPolicy::make(mode, WaitPolicy::For::Ranks));
            Script task{0, end};
            EXPECT_EQ(watched.waiter.wait(task), end);
            EXPECT_EQ(task.polls, 1U);
            EXPECT_EQ(watched.idles + watched.checks, 0U);
        }
}

TEST(Waiter, PollsUntilTheEnd) {
    for (const WaitMode mode : modes)
        for (const WaitPolicy::For what : waits) {
            Watched watched(WaitPolicy::make(mode, what));
            Script task{3000, Progress::Done};
            EXPECT_EQ(watched.waiter.wait(task), Progress::Done);
            EXPECT_EQ(task.polls, 3001U);
        }
}

TEST(Waiter, CallsTheHostsProgressOnlyWhileNothingMovesAndThenAgainAndAgain) {
    const WaitPolicy policy = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::Ranks);
    Watched watched(policy);
    Script brief{policy.progress_after - 1, Progress::Done};
    watched.waiter.wait(brief);
    EXPECT_EQ(watched.idles, 0U) << "not before the answer had time to come";
    Script longer{policy.progress_after + 10 * policy.progress_every, Progress::Done};
    watched.waiter.wait(longer);
    EXPECT_GE(watched.idles, 10U);
    EXPECT_LE(watched.idles, 12U);
}

// The host's progress may itself yield. Where the awaited rank needs this processor, a second yield before the task is
// looked at again would be a change of process for nothing.
TEST(Waiter, YieldsBeforeItCallsTheHostsProgressWhereRanksAreCrowded) {
    const WaitPolicy policy = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::CrowdedRanks);
    Watched watched(policy);
    Script brief{policy.spins + policy.progress_every - 1, Progress::Done};
    watched.waiter.wait(brief);
    EXPECT_EQ(watched.idles, 0U) << "the first turns are the other ranks'";
    Script longer{policy.spins + policy.progress_every, Progress::Done};
    watched.waiter.wait(longer);
    EXPECT_EQ(watched.idles, 1U);
}

TEST(Waiter, StartsToCountAnewWhenTheTaskAdvances) {
    const WaitPolicy policy = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::Ranks);
    Watched watched(policy);
    std::uint64_t polls = 0;
    // Advances once in every `progress_after - 1` polls, so that it is never idle for long.
    const Progress end = watched.waiter.wait([&] {
        if (++polls > 100 * policy.progress_after) return Progress::Done;
        return polls % (policy.progress_after - 1) == 0 ? Progress::Advanced : Progress::Pending;
    });
    EXPECT_EQ(end, Progress::Done);
    EXPECT_EQ(watched.idles, 0U);
    EXPECT_EQ(watched.checks, 0U);
}

TEST(Waiter, PollsOnWhileATaskRestsAndMindsTheHostAndTheTimeMeanwhile) {
    for (const WaitMode mode : modes) {
        Watched watched(WaitPolicy::make(mode, WaitPolicy::For::Ranks));
        Script task{2000, Progress::Done, Progress::Resting};
        EXPECT_EQ(watched.waiter.wait(task), Progress::Done);
        EXPECT_EQ(task.polls, 2001U);
        EXPECT_GT(watched.idles, 0U);
        Watched hasty(WaitPolicy::make(mode, WaitPolicy::For::Ranks), 0ns, 0ns);
        Script endless{UINT64_MAX, Progress::Done, Progress::Resting};
        EXPECT_EQ(hasty.waiter.wait(endless), Progress::Failed);
    }
}

TEST(Waiter, GivesUpWhenTheCheckSaysSo) {
    for (const WaitMode mode : modes) {
        Watched watched(WaitPolicy::make(mode, WaitPolicy::For::Ranks), 1ms, 20ms);
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(watched.waiter.wait([] { return Progress::Pending; }), Progress::Failed);
        const auto taken = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(watched.last_waited, 20ms);
        EXPECT_LE(watched.last_waited, taken);
        EXPECT_LT(taken, 25s) << "mode " << static_cast<int>(mode) << ": 20 ms on however busy a machine";
        EXPECT_GT(watched.idles, 0U);
    }
}

TEST(Waiter, ChecksNoMoreOftenThanItWasToldTo) {
    Watched watched(WaitPolicy::make(WaitMode::Yield, WaitPolicy::For::Ranks), 10ms, 55ms);
    watched.waiter.wait([] { return Progress::Pending; });
    EXPECT_GE(watched.checks, 1U);
    EXPECT_LE(watched.checks, 6U);
}

TEST(Waiter, TellsTheTimeOfThisWaitAndNotOfThoseBefore) {
    Watched watched(WaitPolicy::make(WaitMode::Yield, WaitPolicy::For::Ranks), 1ms, 20ms);
    ASSERT_EQ(watched.waiter.wait([] { return Progress::Pending; }), Progress::Failed);
    const auto begin = std::chrono::steady_clock::now();
    const Progress end = watched.waiter.wait(
        [&, seen = watched.checks] { return watched.checks == seen ? Progress::Pending : Progress::Done; });
    EXPECT_LE(watched.last_waited, std::chrono::steady_clock::now() - begin);
    EXPECT_TRUE(end == Progress::Done || watched.last_waited >= 20ms);
}

TEST(Waiter, GivesTurnsUntilAllHaveLeftOrThereAreNoMore) {
    WaitPolicy policy;
    policy.gives_way_above = 1000;
    Watched watched(policy);
    int looks = 0;
    EXPECT_TRUE(watched.waiter.give_way(1001, 8, [&looks] { return ++looks == 3; }));
    EXPECT_EQ(looks, 3);
    looks = 0;
    EXPECT_TRUE(watched.waiter.give_way(1001, 4, [&looks] { return ++looks == 100; }));
    EXPECT_GE(looks, 1) << "a turn that takes long, on a busy machine, is the last";
    EXPECT_LE(looks, 4);
    EXPECT_TRUE(watched.waiter.give_way(1001, 0, [&looks] { return ++looks == 100; })) << "who is not the root";
    EXPECT_LE(looks, 4);
    EXPECT_EQ(watched.idles + watched.checks, 0U);
}

TEST(Waiter, KeepsTheProcessorAfterAMessageThatIsNotWorthATurn) {
    WaitPolicy policy;
    policy.gives_way_above = 1000;
    Watched watched(policy);
    int looks = 0;
    EXPECT_FALSE(watched.waiter.give_way(1000, 8, [&looks] { return ++looks == 100; }));
    EXPECT_EQ(looks, 0);
}

TEST(WaitPolicy, GivesWayWhereRanksAreCrowdedAndDoNotSpinAndNowhereElse) {
    for (const WaitMode mode : modes) {
        EXPECT_EQ(WaitPolicy::make(mode, WaitPolicy::For::Ranks).gives_way_above, SIZE_MAX);
        EXPECT_EQ(WaitPolicy::make(mode, WaitPolicy::For::Wire).gives_way_above, SIZE_MAX);
        const std::size_t above = WaitPolicy::make(mode, WaitPolicy::For::CrowdedRanks).gives_way_above;
        if (mode == WaitMode::Spin)
            EXPECT_EQ(above, SIZE_MAX);
        else
            EXPECT_LT(above, std::size_t{1} << 20);
    }
}

TEST(WaitPolicy, LetsCrowdedRanksYieldEarlyUnlessToldToSpin) {
    const WaitPolicy roomy = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::Ranks);
    const WaitPolicy crowded = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::CrowdedRanks);
    EXPECT_LT(crowded.spins * 10, roomy.spins);
    EXPECT_LE(crowded.progress_after, roomy.progress_after);
    for (const WaitPolicy::For what : waits) {
        EXPECT_EQ(WaitPolicy::make(WaitMode::Spin, what).spins, UINT32_MAX) << "never yields";
        EXPECT_EQ(WaitPolicy::make(WaitMode::Yield, what).spins, crowded.spins);
        EXPECT_TRUE(WaitPolicy::make(WaitMode::Sleep, what).sleeps);
        EXPECT_FALSE(WaitPolicy::make(WaitMode::Yield, what).sleeps);
    }
}

// A network that is made of this machine's own processors brings nothing while they spin, and other hosts' ranks may be
// on them (containers): nobody who waits for the wire keeps a processor for milliseconds.
TEST(WaitPolicy, LetsRanksThatWaitForTheWireYieldEarlyWithoutCallingTheHostsProgressMoreOften) {
    const WaitPolicy roomy = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::Ranks);
    const WaitPolicy wire = WaitPolicy::make(WaitMode::Auto, WaitPolicy::For::Wire);
    EXPECT_LE(wire.spins, 16U);
    EXPECT_LE(wire.progress_after, wire.spins) << "a yield comes after the first look at the host's progress";
    EXPECT_EQ(wire.progress_every, roomy.progress_every);
    EXPECT_FALSE(wire.sleeps);
}

TEST(WaitPolicy, CountsPollsBetweenTwoProgressCallsInAPowerOfTwo) {
    for (const WaitMode mode : modes)
        for (const WaitPolicy::For what : waits) {
            const std::uint32_t every = WaitPolicy::make(mode, what).progress_every;
            EXPECT_GT(every, 0U);
            EXPECT_EQ(every & (every - 1), 0U);
        }
}

}  // namespace
}  // namespace peercoll
