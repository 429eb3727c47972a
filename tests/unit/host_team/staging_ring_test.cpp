// SPDX-License-Identifier: BSD-3-Clause
// Where the chunks of operations lie in the staging cells of a team.
#include "collectives/host/staging_ring.hpp"
#include "tests/unit/host_team/emulated_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace peercoll::test {
namespace {

constexpr int ranks = 3;

// With the least segment the cells are a page.
constexpr std::size_t quarter = 1024;

EmulatedTeam make_team() {
    return EmulatedTeam({.ranks = ranks});
}

TEST(StagingRing, TakesAQuarterAHalfOrAllCellsForMessagesThatFitAndElseAHalfForEachChunk) {
    struct Expected {
        std::size_t bytes, ring_bytes;
        std::uint64_t chunks;
    };
    for (const Expected expected : {Expected{1, quarter, 1},
                                    {quarter, quarter, 1},
                                    {quarter + 1, 2 * quarter, 1},
                                    {2 * quarter, 2 * quarter, 1},
                                    {2 * quarter + 1, 4 * quarter, 1},
                                    {4 * quarter, 4 * quarter, 1},
                                    {4 * quarter + 1, 2 * quarter, 3},
                                    {100 * quarter, 2 * quarter, 50}}) {
        EmulatedTeam team = make_team();
        ASSERT_EQ(team[0].quarter_bytes(), quarter);
        const StagingRing ring(team[0], expected.bytes, 1);
        EXPECT_EQ(ring.bytes(), expected.ring_bytes) << expected.bytes;
        EXPECT_EQ(ring.size(), expected.chunks) << expected.bytes;
    }
}

TEST(StagingRing, AChunkFitsItsShareOfTheCells) {
    for (const std::size_t shares : {1, 2})
        for (const std::size_t element : {1, 2, 4, 8, 16, 32})
            for (std::size_t count = 1; count < 3000; count += count < 600 ? 1 : 61) {
                EmulatedTeam team = make_team();
                const StagingRing ring(team[0], count, element, shares);
                std::size_t covered = 0;
                for (std::uint64_t chunk = 0; chunk < ring.size(); ++chunk) {
                    ASSERT_EQ(ring[chunk].begin, covered);
                    covered = ring[chunk].end;
                    ASSERT_LE(ring[chunk].count() * element, ring.bytes() / shares)
                        << count << " elements of " << element << " bytes, " << shares << " shares";
                }
                ASSERT_EQ(covered, count);
            }
}

TEST(StagingRing, ChunksLieInTheirRanksOwnCellsAndTwoUnderWayNeverOverlap) {
    EmulatedTeam team = make_team();
    const std::byte* const begin = team[0].cell(0, 0);
    for (const std::size_t bytes : {1, 1500, 700, 5000, 100, 4000, 9000, 3}) {
        const StagingRing ring(team[0], bytes, 1);
        for (int rank = 0; rank < ranks; ++rank)
            for (std::uint64_t chunk = 0; chunk < ring.size(); ++chunk) {
                const std::ptrdiff_t at = ring.at(rank, chunk) - begin;
                const auto own = static_cast<std::ptrdiff_t>(rank * 4 * quarter);
                ASSERT_GE(at, own);
                ASSERT_LE(at + static_cast<std::ptrdiff_t>(ring.bytes()),
                          own + static_cast<std::ptrdiff_t>(4 * quarter));
                if (chunk == 0) continue;
                const std::ptrdiff_t apart = ring.at(rank, chunk) - ring.at(rank, chunk - 1);
                ASSERT_GE(std::abs(apart), static_cast<std::ptrdiff_t>(ring.bytes()));
            }
    }
}

TEST(StagingRing, AllRanksPutTheSameChunkIntoTheSameCell) {
    EmulatedTeam team = make_team();
    for (const std::size_t bytes : {1, 1500, 700, 5000, 100, 4000, 9000, 3}) {
        const StagingRing first(team[0], bytes, 1);
        const StagingRing second(team[1], bytes, 1);
        for (std::uint64_t chunk = 0; chunk < first.size(); ++chunk)
            ASSERT_EQ(first.at(2, chunk), second.at(2, chunk)) << "rank 0 and 1 look for rank 2's data";
    }
}

TEST(StagingRing, TwoRanksChangeCellsWithEachRoundSoThatTheyWriteWhatTheyHaveRead) {
    EmulatedTeam team({.ranks = 2});
    for (std::uint64_t round = 0; round < 3; ++round)
        for (std::uint64_t use = 0; use < HostTeam::cells / HostTeam::quarter; ++use) {
            const StagingRing ring(team[0], 1, 1);
            EXPECT_EQ(ring.exchanged_at(0, 0), ring.at(round % 2 == 0 ? 0 : 1, 0)) << "round " << round;
            EXPECT_EQ(ring.exchanged_at(1, 0), ring.at(round % 2 == 0 ? 1 : 0, 0)) << "round " << round;
        }
}

TEST(StagingRing, MoreRanksKeepTheirCells) {
    EmulatedTeam team({.ranks = 3});
    for (std::uint64_t use = 0; use < 2 * HostTeam::cells; ++use) {
        const StagingRing ring(team[0], 1, 1);
        for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ring.exchanged_at(rank, 0), ring.at(rank, 0));
    }
}

TEST(StagingRing, ACellIsFreeOnlyOnceAllRanksHaveReachedTheStepThatWasNamed) {
    EmulatedTeam team = make_team();
    StagingRing first(team[0], 2 * quarter, 1);
    ASSERT_TRUE(first.is_free(0)) << "nothing was written yet";
    first.free_at(0, 7);
    StagingRing elsewhere(team[0], 2 * quarter, 1);
    EXPECT_TRUE(elsewhere.is_free(0)) << "the other half of the cells";
    StagingRing again(team[0], 1, 1);  // a quarter of the cells, in the first half
    EXPECT_FALSE(again.is_free(0));
    team[1].publish(7);
    EXPECT_FALSE(again.is_free(0)) << "rank 2 has not";
    team[2].publish(6);
    EXPECT_FALSE(again.is_free(0));
    team[2].publish(8);
    EXPECT_TRUE(again.is_free(0));
}

TEST(StagingRing, AWideChunkWaitsForEveryCellItCovers) {
    EmulatedTeam team = make_team();
    for (std::uint64_t index = 0; index < HostTeam::cells; ++index) team[0].set_cells_free_at(index, 1, 10 + index);
    EXPECT_EQ(team[0].cells_free_at(0, 4), 13U);
    EXPECT_EQ(team[0].cells_free_at(0, 2), 11U);
    EXPECT_EQ(team[0].cells_free_at(2, 2), 13U);
    EXPECT_EQ(team[0].cells_free_at(HostTeam::cells + 1, 1), 11U) << "cells are used in turn";
}

}  // namespace
}  // namespace peercoll::test
