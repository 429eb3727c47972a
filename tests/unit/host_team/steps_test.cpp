// SPDX-License-Identifier: BSD-3-Clause
// Steps, clocks, packet slots and cells of a team, without any algorithm.
#include "tests/unit/host_team/emulated_team.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace peercoll::test {
namespace {

TEST(HostTeamSteps, AreCountedAlikeOnAllRanksWithoutAnyExchange) {
    EmulatedTeam team({.ranks = 3});
    std::uint64_t before = 0;
    for (const std::uint64_t steps : {1, 5, 3, 100, 1}) {
        for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(team[rank].begin(steps), before);
        before += steps;
    }
}

TEST(HostTeamSteps, AreSeenByTheOthersOnceTheyArePublished) {
    EmulatedTeam team({.ranks = 2});
    EXPECT_TRUE(team[1].has_reached(0, 0));
    EXPECT_FALSE(team[1].has_reached(0, 1));
    team[0].publish(3);
    EXPECT_TRUE(team[1].has_reached(0, 1));
    EXPECT_TRUE(team[1].has_reached(0, 3));
    EXPECT_FALSE(team[1].has_reached(0, 4));
    EXPECT_FALSE(team[0].has_reached(1, 1)) << "rank 1 has published nothing";
}

TEST(HostTeamSteps, ThatWerePassedOverAreSeenLikeThoseThatWerePublished) {
    for (const std::uint64_t jump : {1, 2, 3, 4, 5, 7, 64})
        for (std::uint64_t step = 1; step <= 3 * jump + 2 * clock_lines; ++step) {
            EmulatedTeam team({.ranks = 2});  // of a rank that has looked at no step yet
            for (std::uint64_t published = jump; published <= 3 * jump; published += jump) team[0].publish(published);
            EXPECT_EQ(team[1].has_reached(0, step), step <= 3 * jump) << "step " << step << ", by " << jump;
        }
}

TEST(HostTeamSteps, EverybodyHasReachedAStepOnlyWhenTheLastOneHas) {
    EmulatedTeam team({.ranks = 4});
    for (const int rank : {3, 1}) {
        team[rank].publish(2);
        EXPECT_FALSE(team[0].all_reached(2));
    }
    team[2].publish(1);
    EXPECT_FALSE(team[0].all_reached(2));
    EXPECT_TRUE(team[0].all_reached(1)) << "an earlier step can be asked for in between";
    EXPECT_FALSE(team[0].all_reached(2)) << "and does not change the answer for the later one";
    team[2].publish(5);
    EXPECT_TRUE(team[0].all_reached(2)) << "its own clock does not count";
    EXPECT_FALSE(team[0].all_reached(3));
}

TEST(HostTeamSteps, SomeRanksCanBeAskedAboutWithoutTheOthers) {
    EmulatedTeam team({.ranks = 4, .groups = {{0, 2}, {1, 3}}});
    team[2].publish(4);
    EXPECT_TRUE(team[0].have_reached(team[0].group_of(0), 4));
    EXPECT_FALSE(team[0].have_reached(team[0].group_of(1), 1));
    EXPECT_FALSE(team[0].all_reached(1));
}

TEST(HostTeamSteps, AFloorLearntFromTheDataNeedsNoLookAtTheClocks) {
    EmulatedTeam team({.ranks = 3});
    team[0].raise_floor(9);
    EXPECT_TRUE(team[0].all_reached(9));
    EXPECT_FALSE(team[0].all_reached(10));
    team[0].raise_floor(4);
    EXPECT_TRUE(team[0].all_reached(9)) << "the floor never sinks";
}

TEST(HostTeamSteps, ARankHasLeftOnceItHasTakenAllStepsOfWhatWasBegun) {
    EmulatedTeam team({.ranks = 2});
    EXPECT_TRUE(team[0].has_left(1)) << "nothing was begun";
    team[0].begin(3);
    team[1].publish(2);
    EXPECT_FALSE(team[0].has_left(1));
    team[1].publish(3);
    EXPECT_TRUE(team[0].has_left(1));
}

TEST(HostTeamGroups, EveryRankKnowsItsGroup) {
    EmulatedTeam team({.ranks = 5, .groups = {{0, 3, 4}, {1, 2}}});
    for (const int rank : {0, 3, 4}) EXPECT_EQ(team[1].group_index(rank), 0U);
    for (const int rank : {1, 2}) EXPECT_EQ(team[4].group_index(rank), 1U);
    EXPECT_EQ(team[0].group_of(2), (std::vector<int>{1, 2}));
}

TEST(HostTeamPackets, AreTakenInWholePairsOfLinesAndNeverAcrossTheEndOfTheRing) {
    EmulatedTeam team({.ranks = 3});
    std::uint64_t expected = 0;
    std::set<const PacketLine*> lines;
    for (int use = 0; use < 500; ++use) {
        const std::size_t wanted = 1 + static_cast<std::size_t>(use * 7) % packet_lines;
        const std::size_t taken = (wanted + 1) / 2 * 2;
        if (expected + taken > packet_ring_lines) expected = 0;
        const std::uint64_t first = team[0].take_packet(wanted);
        EXPECT_EQ(first, expected);
        expected += taken;
        for (int rank = 0; rank < 3; ++rank)
            for (std::size_t i = 0; i < wanted; ++i) {
                lines.insert(team[0].packet(rank, first) + i);
                EXPECT_EQ(team[0].packet(rank, first), team[2].packet(rank, first));
            }
    }
    EXPECT_LE(lines.size(), 3 * packet_ring_lines);
    EXPECT_GE(lines.size(), 3 * packet_ring_lines / 2) << "the ring is used, not only its beginning";
}

TEST(HostTeamPackets, AreFreeWhenTheLastOfTheMessagesThatTouchedThemIs) {
    EmulatedTeam team({.ranks = 2});
    EXPECT_EQ(team[0].packet_free_at(0, packet_lines), 0U);
    team[0].set_packet_free_at(2, 1, 7);
    team[0].set_packet_free_at(4, 3, 9);
    EXPECT_EQ(team[0].packet_free_at(0, 2), 0U);
    EXPECT_EQ(team[0].packet_free_at(0, 3), 7U);
    EXPECT_EQ(team[0].packet_free_at(2, 1), 7U);
    EXPECT_EQ(team[0].packet_free_at(0, 5), 9U);
    EXPECT_EQ(team[0].packet_free_at(6, 1), 9U) << "the third line's pair";
    EXPECT_EQ(team[0].packet_free_at(8, 5), 0U);
}

TEST(HostTeamPackets, FetchingAheadChangesNothingAndStaysInTheRing) {
    EmulatedTeam team({.ranks = 2});
    team[0].packet(0, 0)->step.store(5);
    for (std::uint64_t first = 0; first < packet_ring_lines; first += 2) {
        team[0].own_packet_soon(first, 1);
        team[1].read_packet_soon(0, first, packet_lines);
    }
    EXPECT_EQ(team[1].packet(0, 0)->step.load(), 5U);
}

TEST(HostTeamCells, AreTakenAlignedToTheirSpan) {
    EmulatedTeam team({.ranks = 2});
    EXPECT_EQ(team[0].take_cells(1, 1), 0U);
    EXPECT_EQ(team[0].take_cells(2, 2), 2U) << "one is left out, so that a chunk never wraps around";
    EXPECT_EQ(team[0].take_cells(1, 1), 6U);
    EXPECT_EQ(team[0].take_cells(1, 4), 8U);
    EXPECT_EQ(team[0].take_cells(3, 1), 12U);
    EXPECT_EQ(team[0].take_cells(1, 2), 16U);
}

TEST(HostTeamScratch, GrowsIsKeptAndIsAlignedToLines) {
    EmulatedTeam team({.ranks = 2});
    std::byte* small = team[0].scratch(100);
    ASSERT_NE(small, nullptr);
    std::memset(small, 1, 100);
    std::byte* large = team[0].scratch(1 << 20);
    ASSERT_NE(large, nullptr);
    std::memset(large, 2, 1 << 20);
    EXPECT_EQ(team[0].scratch(50), large);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % cache_line, 0U);
    EXPECT_EQ(team[0].scratch(0), large) << "what was there stays";
}

}  // namespace
}  // namespace peercoll::test
