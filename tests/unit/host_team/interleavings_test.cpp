// SPDX-License-Identifier: BSD-3-Clause
// Every host algorithm mixed with every other, the ranks interleaved in random orders, all in one thread. Each result
// is compared bit by bit; each buffer is freed as soon as its rank is done with it.
#include "tests/support/random_seed.hpp"
#include "tests/unit/host_team/schedule.hpp"

#include <gtest/gtest.h>

namespace peercoll::test {
namespace {

// Runs `rounds` programs under every schedule.
void run_shape(const TeamShape& shape, const JobMix& mix, int rounds) {
    const std::uint64_t seed = random_seed();
    for (int round = 0; round < rounds; ++round)
        for (const Schedule schedule : all_schedules) {
            const std::uint64_t own = seed + static_cast<std::uint64_t>(round * 16 + static_cast<int>(schedule));
            EmulatedTeam team(shape);
            const Program program = Program::make(team, random_jobs(team, mix, own), own);
            ASSERT_TRUE(run_all(team, program, schedule))
                << seed_text(seed) << ", round " << round << ", schedule " << static_cast<int>(schedule);
        }
}

TEST(Interleavings, TwoRanks) {
    run_shape({.ranks = 2}, {}, 6);
}

TEST(Interleavings, TwoRanksEachAGroupOfItsOwn) {
    run_shape({.ranks = 2, .groups = {{0}, {1}}}, {}, 6);
}

TEST(Interleavings, ThreeRanks) {
    run_shape({.ranks = 3}, {}, 6);
}

TEST(Interleavings, FourRanks) {
    run_shape({.ranks = 4}, {}, 4);
}

TEST(Interleavings, NineRanks) {
    run_shape({.ranks = 9}, {.jobs = 60}, 2);
}

TEST(Interleavings, TwoGroupsOfTwo) {
    run_shape({.ranks = 4, .groups = {{0, 1}, {2, 3}}}, {}, 4);
}

TEST(Interleavings, TwoGroupsThatAreNotInRankOrder) {
    run_shape({.ranks = 5, .groups = {{0, 3, 4}, {1, 2}}}, {}, 4);
}

TEST(Interleavings, ThreeGroupsOfWhichOneIsASingleRank) {
    run_shape({.ranks = 6, .groups = {{0, 2}, {1}, {3, 4, 5}}}, {}, 3);
}

TEST(Interleavings, EveryRankAGroupOfItsOwn) {
    run_shape({.ranks = 3, .groups = {{0}, {1}, {2}}}, {}, 3);
}

TEST(Interleavings, WithoutSingleCopy) {
    run_shape({.ranks = 4, .groups = {{0, 2}, {1, 3}}, .single_copy = false}, {}, 4);
}

TEST(Interleavings, OfPacketsAlone) {
    for (const int ranks : {2, 3, 5}) run_shape({.ranks = ranks}, {.jobs = 400, .packets_alone = true}, 3);
}

TEST(Interleavings, WithCellsOfSeveralSizes) {
    for (const std::size_t pages : {2, 3, 8})
        run_shape({.ranks = 3, .groups = {{0, 1}, {2}}, .budget = SegmentLayout::minimum_budget(3) + pages * 3 * 4096},
                  {.jobs = 60, .most_bytes = 40'000}, 1);
}

TEST(Interleavings, LargeMessagesInTheDefaultSegment) {
    for (const int ranks : {2, 3})
        run_shape({.ranks = ranks, .budget = SegmentLayout::default_budget(static_cast<std::size_t>(ranks))},
                  {.jobs = 6, .most_bytes = std::size_t{3} << 20, .stretches = false}, 1);
}

}  // namespace
}  // namespace peercoll::test
