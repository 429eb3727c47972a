// SPDX-License-Identifier: BSD-3-Clause
// The same jobs with a thread for each rank: the machine's own interleavings, and with the thread sanitizer a proof
// that what one rank reads was handed over by the other. Buffers of ranks are read by other threads in single copies.
#include "tests/support/random_seed.hpp"
#include "tests/unit/host_team/emulated_rank.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

void run_threads(const TeamShape& shape, const JobMix& mix) {
    const std::uint64_t seed = random_seed();
    EmulatedTeam team(shape);
    const Program program = Program::make(team, random_jobs(team, mix, seed), seed);
    std::vector<std::string> failures(static_cast<std::size_t>(team.size()));
    std::atomic<bool> give_up{false};
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    std::vector<std::thread> threads;
    for (int number = 0; number < team.size(); ++number)
        threads.emplace_back([&, number] {
            EmulatedRank rank(team, program, number);
            std::string& failure = failures[static_cast<std::size_t>(number)];
            while (!rank.is_done() && failure.empty() && !give_up.load(std::memory_order_relaxed)) {
                if (rank.step() != Progress::Pending) {
                    failure = rank.failure();
                    continue;
                }
                std::this_thread::yield();
                if (std::chrono::steady_clock::now() > limit) failure = "stuck in job " + std::to_string(rank.job());
            }
            if (!failure.empty()) give_up.store(true, std::memory_order_relaxed);
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& failure : failures) EXPECT_EQ(failure, "") << seed_text(seed);
}

TEST(RanksAsThreads, TwoRanks) {
    run_threads({.ranks = 2}, {.jobs = 400});
}

TEST(RanksAsThreads, FourRanksInTwoGroups) {
    run_threads({.ranks = 4, .groups = {{0, 2}, {1, 3}}}, {.jobs = 300});
}

TEST(RanksAsThreads, LargeMessages) {
    run_threads({.ranks = 3, .budget = SegmentLayout::default_budget(3)},
                {.jobs = 12, .most_bytes = std::size_t{2} << 20, .stretches = false});
}

}  // namespace
}  // namespace peercoll::test
