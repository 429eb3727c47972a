// SPDX-License-Identifier: BSD-3-Clause
// What ranks make of the times of their trials.
#include "collectives/host/time_agreement.hpp"

#include "tests/unit/host_team/emulated_team.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace peercoll::test {
namespace {

using Times = TimeAgreement::Times;

// Runs the agreement on all ranks, each of which has its own times.
std::vector<TimeAgreement> agree(EmulatedTeam& team, const std::vector<Times>& times, std::size_t candidates,
                                 std::uint64_t percent = 90) {
    std::vector<TimeAgreement> tasks;
    for (int rank = 0; rank < team.size(); ++rank)
        tasks.emplace_back(team[rank], times[static_cast<std::size_t>(rank)], candidates, percent);
    std::size_t done = 0;
    std::vector<bool> is_done(tasks.size());
    for (int polls = 0; polls < 100 && done < tasks.size(); ++polls)
        for (std::size_t rank = 0; rank < tasks.size(); ++rank)
            if (!is_done[rank] && tasks[rank].progress() == Progress::Done) {
                is_done[rank] = true;
                ++done;
            }
    EXPECT_EQ(done, tasks.size()) << "not all ranks came to an end";
    return tasks;
}

TEST(TimeAgreement, TakesTheTimeOfTheSlowestRankForEachCandidate) {
    EmulatedTeam team({.ranks = 3});
    for (const TimeAgreement& task : agree(team, {{10, 90, 5, 1}, {30, 20, 6, 2}, {20, 50, 4, 3}}, 4))
        EXPECT_EQ(task.agreed(), (Times{30, 90, 6, 3}));
}

TEST(TimeAgreement, FindsTheSameFastestOnAllRanks) {
    EmulatedTeam team({.ranks = 3});
    for (const TimeAgreement& task :
         agree(team, {{9000, 2000, 1000, 0}, {9000, 3000, 5000, 0}, {9000, 2000, 4000, 0}}, 3))
        EXPECT_EQ(task.fastest(), 1U);
}

TEST(TimeAgreement, StaysWithTheTablesFirstUnlessAnotherIsClearlyFaster) {
    EmulatedTeam team({.ranks = 2});
    for (const std::uint64_t percent : {93U, 75U}) {
        for (const TimeAgreement& task : agree(team, {{1000, 990, 0, 0}, {1000, 990, 0, 0}}, 2, percent))
            EXPECT_EQ(task.fastest(), 0U);
        for (const TimeAgreement& task : agree(team, {{1000, 500, 0, 0}, {1000, 500, 0, 0}}, 2, percent))
            EXPECT_EQ(task.fastest(), 1U);
    }
}

TEST(TimeAgreement, LooksOnlyAtAsManyCandidatesAsThereAre) {
    EmulatedTeam team({.ranks = 2});
    for (const TimeAgreement& task : agree(team, {{1000, 900, 1, 1}, {1000, 900, 1, 1}}, 2))
        EXPECT_LT(task.fastest(), 2U);
}

TEST(TimeAgreement, TakesTheSameStepsOnAllRanks) {
    EmulatedTeam team({.ranks = 2});
    agree(team, {{1, 2, 3, 4}, {4, 3, 2, 1}}, 4);
    EXPECT_EQ(team[0].begin(1), team[1].begin(1));
    EXPECT_TRUE(team[0].has_reached(1, 3)) << "rank 1 has left nothing undone";
}

}  // namespace
}  // namespace peercoll::test
