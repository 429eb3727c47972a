// SPDX-License-Identifier: BSD-3-Clause
// The process group itself: what goes wrong in a rank is seen, and nothing is waited for without end.
#include "tests/support/process_group.hpp"

#include "tests/support/leftovers.hpp"

#include <fcntl.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

using std::chrono::milliseconds;

TEST(ProcessGroup, GathersPiecesOfAnySizeInRankOrderAgainAndAgain) {
    run_ranks(5, [](Rank& rank) {
        Exchange exchange = rank.exchange();
        for (const std::size_t bytes : {1UL, 7UL, 0UL, 4096UL, 4097UL, 20'000UL, 64UL}) {
            const std::vector<unsigned char> mine(bytes, static_cast<unsigned char>(rank.rank() + 1));
            std::vector<unsigned char> all(bytes * 5, 0);
            ASSERT_TRUE(exchange.allgather(mine.data(), all.data(), bytes));
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(all[i], i / bytes + 1);
            }
        }
    });
}

TEST(ProcessGroup, ReportsAFailedExpectationWithTheRankThatHadIt) {
    EXPECT_NONFATAL_FAILURE(run_ranks(3, [](Rank& rank) { EXPECT_NE(rank.rank(), 2) << "the text of the rank"; }),
                            "the text of the rank");
}

TEST(ProcessGroup, ReportsARankThatCrashes) {
    EXPECT_NONFATAL_FAILURE(run_ranks(2,
                                      [](Rank& rank) {
                                          if (rank.rank() == 1) {
                                              raise(SIGKILL);
                                          }
                                      }),
                            "rank 1 of 2 was ended by signal 9");
}

TEST(ProcessGroup, BreaksTheAllgatherOfTheOthersWhenOneRankDies) {
    GroupRules rules;
    rules.expected_losses = {0};
    const auto start = std::chrono::steady_clock::now();
    run_ranks(
        3,
        [](Rank& rank) {
            if (rank.rank() == 0) {
                raise(SIGKILL);
            }
            EXPECT_FALSE(rank.exchange().meet());
        },
        rules);
    EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(5'000));
}

TEST(ProcessGroup, KillsWhatDoesNotEndBeforeTheDeadline) {
    GroupRules rules;
    rules.deadline = milliseconds(100);
    EXPECT_NONFATAL_FAILURE(run_ranks(
                                1, [](Rank&) { pause(); }, rules),
                            "did not end in time");
}

TEST(ProcessGroup, LetsTheParentSuperviseThroughSharedWords) {
    GroupRules rules;
    rules.supervise = [](const Supervision& supervision) {
        if (supervision.word(0).load() == 2) {
            supervision.word(1).store(1);
        }
    };
    run_ranks(
        2,
        [](Rank& rank) {
            rank.word(0).fetch_add(1);
            while (rank.word(1).load() == 0) {
                std::this_thread::yield();
            }
        },
        rules);
}

TEST(ProcessGroup, NoticesAFileLeftInDevShm) {
    const std::string name = "/peercoll-test-leftover-" + std::to_string(getpid());
    EXPECT_NONFATAL_FAILURE(run_ranks(1, [&](Rank&) { shm_open(name.c_str(), O_CREAT | O_RDWR, 0600); }),
                            "was left behind");
    EXPECT_EQ(shm_unlink(name.c_str()), 0);
}

TEST(ProcessGroup, NoticesAProcessLeftBehind) {
    EXPECT_NONFATAL_FAILURE(run_ranks(1,
                                      [](Rank&) {
                                          if (fork() == 0) {
                                              pause();
                                          }
                                      }),
                            "was left behind");
}

TEST(ProcessGroup, RunsAGroupInsideARank) {
    run_ranks(1, [](Rank&) { run_ranks(2, [](Rank& inner) { EXPECT_TRUE(inner.exchange().meet()); }); });
    EXPECT_NONFATAL_FAILURE(run_ranks(1, [](Rank&) { run_ranks(1, [](Rank&) { FAIL() << "deep inside"; }); }),
                            "deep inside");
}

TEST(Leftovers, FootprintSeesDescriptorsAndMappings) {
    const Footprint before = footprint_of_this_process();
    const int descriptor = open("/dev/null", O_RDONLY);
    void* memory = mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const Footprint after = footprint_of_this_process();
    EXPECT_EQ(after.descriptors, before.descriptors + 1);
    EXPECT_GE(after.mappings, before.mappings + 1);
    munmap(memory, 1 << 20);
    close(descriptor);
}

}  // namespace
}  // namespace peercoll::test
