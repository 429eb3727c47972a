// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die or stop, before and in the middle of collectives: the others get an error within the documented limit.
#include "tests/faults/small_job.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t check_ms = 200;              // option peer_check in these tests
constexpr std::uint64_t limit_ms = 2000 * patience;  // beyond the option, as documented
enum Word { ready, killed_at, survivors_done };      // of the group

// Calls one collective again and again until one fails.
peercoll_status_t run_until_failure(const Rank& rank, peercoll_comm_t comm, const std::string& collective,
                                    std::size_t count) {
    std::vector<std::int64_t> values(count, rank.rank());
    for (;;) {
        const peercoll_status_t status =
            collective == "allreduce"
                ? plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT64, PEERCOLL_MAX, comm)
                : plugin.broadcast(values.data(), count * sizeof(values[0]), 1, comm);
        if (status != PEERCOLL_SUCCESS) {
            return status;
        }
    }
}

struct Scene {
    std::string collective;
    std::string algorithm;
    std::size_t count;
};

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.collective << "_" << scene.algorithm << "_" << scene.count;
}

class LostRanks : public testing::TestWithParam<Scene> {
protected:
    // `signal` to rank `victim` a random moment after all ranks have begun their loops.
    static GroupRules rules_that_send(int signal, int victim, int ranks, std::uint64_t seed) {
        GroupRules rules;
        if (signal == SIGKILL) {
            rules.expected_losses = {victim};
        }
        std::mt19937_64 random(seed);
        const std::uint64_t delay = 1 + random() % 40;
        rules.supervise = [signal, victim, ranks, delay,
                           began = std::uint64_t{0}](const Supervision& supervision) mutable {
            if (supervision.word(ready).load() < static_cast<std::uint64_t>(ranks)) {
                return;
            }
            began = began == 0 ? now_in_milliseconds() : began;
            if (supervision.word(killed_at).load() == 0 && now_in_milliseconds() >= began + delay) {
                supervision.word(killed_at).store(now_in_milliseconds());
                kill(supervision.pid(victim), signal);
            }
            if (signal == SIGSTOP && supervision.word(survivors_done).load() == static_cast<std::uint64_t>(ranks - 1)) {
                kill(supervision.pid(victim), SIGCONT);
            }
        };
        return rules;
    }

    OptionList options(const std::string& more) const {
        return {GetParam().collective + "_algorithm=" + GetParam().algorithm, more, "log=off"};
    }

    peercoll_status_t begin_and_run_until_failure(const Rank& rank, peercoll_comm_t comm) const {
        std::int64_t word = 0;
        EXPECT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, comm)));
        rank.word(ready).fetch_add(1);
        return run_until_failure(rank, comm, GetParam().collective, GetParam().count);
    }

    void kill_one(int victim, int ranks) const {
        const std::uint64_t seed = random_seed();
        SCOPED_TRACE(seed_text(seed));
        run_ranks(
            ranks,
            [&](Rank& rank) {
                const Context context(options("peer_check=" + std::to_string(check_ms) + "ms"));
                const Comm comm(context, rank.exchange());
                const auto status = begin_and_run_until_failure(rank, comm.get());
                const std::uint64_t end = now_in_milliseconds();
                EXPECT_TRUE(refused(status, PEERCOLL_ERR_PEER_LOST));
                EXPECT_LE(end - rank.word(killed_at).load(), check_ms + limit_ms);
                // It stays so, at once.
                std::int64_t word = 0;
                EXPECT_TRUE(refused(plugin.broadcast(&word, sizeof(word), 0, comm.get()), PEERCOLL_ERR_PEER_LOST));
                EXPECT_LE(now_in_milliseconds() - end, 100U * patience);
            },
            rules_that_send(SIGKILL, victim, ranks, seed));
    }
};

TEST_P(LostRanks, KilledInTheMiddleOfACollectiveAreNoticedByTheOthers) {
    kill_one(2, 3);
}

TEST_P(LostRanks, KilledInTheMiddleOfACollectiveAreNoticedIfItWasTheRankThatMadeTheSegment) {
    kill_one(0, 3);
}

TEST_P(LostRanks, KilledInTheMiddleOfACollectiveAreNoticedByTheOnlyOther) {
    kill_one(0, 2);
}

TEST_P(LostRanks, StoppedOnesMakeTheOthersRunIntoTheTimeLimit) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(seed_text(seed));
    constexpr int victim = 2;
    run_ranks(
        3,
        [&](Rank& rank) {
            const Context context(options("timeout=500ms"));
            const Comm comm(context, rank.exchange());
            const auto status = begin_and_run_until_failure(rank, comm.get());
            if (rank.rank() == victim) {
                // Woken up after the others gave up.
                EXPECT_NE(status, PEERCOLL_SUCCESS);
                return;
            }
            // Who comes to it first has the time limit, and the other may hear of that.
            EXPECT_TRUE(status == PEERCOLL_ERR_TIMEOUT || status == PEERCOLL_ERR_PEER_LOST) << plugin.last_error();
            const std::uint64_t took = now_in_milliseconds() - rank.word(killed_at).load();
            EXPECT_GE(took, 400U);
            EXPECT_LE(took, 500 + limit_ms);
            std::int32_t timeout = status == PEERCOLL_ERR_TIMEOUT ? 1 : 0;
            std::vector<std::int32_t> all(2);
            EXPECT_TRUE(rank.exchange(1, rank.rank(), 2).allgather(&timeout, all.data(), sizeof(timeout)));
            EXPECT_GE(all[0] + all[1], 1);
            rank.word(survivors_done).fetch_add(1);
        },
        rules_that_send(SIGSTOP, victim, 3, seed));
}

std::string name_of(const testing::TestParamInfo<Scene>& info) {
    return testing::PrintToString(info.param);
}

INSTANTIATE_TEST_SUITE_P(Scenes, LostRanks,
                         testing::Values(Scene{"allreduce", "packets", 2}, Scene{"allreduce", "slots", 400},
                                         Scene{"allreduce", "staged", 500'000},
                                         Scene{"allreduce", "single_copy", 4'000'000}, Scene{"broadcast", "packets", 2},
                                         Scene{"broadcast", "staged", 500'000},
                                         Scene{"broadcast", "single_copy", 4'000'000}),
                         name_of);

GroupRules with_loss_of(std::vector<int> ranks) {
    GroupRules rules;
    rules.expected_losses = std::move(ranks);
    return rules;
}

TEST(LostRanksBetweenCollectives, AreNoticedByTheNextOne) {
    run_ranks(
        3,
        [](Rank& rank) {
            const Context context({"peer_check=200ms", "log=off"});
            const Comm comm(context, rank.exchange());
            run_small_job(rank, comm.get());
            if (rank.rank() == 1) {
                raise(SIGKILL);
            }
            const std::uint64_t begin = now_in_milliseconds();
            std::int64_t word = 1;
            EXPECT_TRUE(refused(plugin.allreduce(&word, &word, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm.get()),
                                PEERCOLL_ERR_PEER_LOST));
            EXPECT_LE(now_in_milliseconds() - begin, check_ms + limit_ms);
        },
        with_loss_of({1}));
}

TEST(LostRanksBetweenCollectives, EndStartedRequestsToo) {
    run_ranks(
        3,
        [](Rank& rank) {
            const Context context({"peer_check=200ms", "log=off"});
            const Comm comm(context, rank.exchange());
            std::vector<std::int64_t> words(5, 1);
            ASSERT_TRUE(succeeded(plugin.broadcast(words.data(), 8, 0, comm.get())));
            if (rank.rank() == 1) {
                raise(SIGKILL);
            }
            std::vector<peercoll_request_t> requests(5);
            for (std::size_t i = 0; i < requests.size(); ++i) {
                ASSERT_TRUE(succeeded(plugin.allreduce_start(&words[i], &words[i], 1, PEERCOLL_INT64, PEERCOLL_SUM,
                                                             comm.get(), &requests[i])));
            }
            const std::uint64_t begin = now_in_milliseconds();
            // One is tested, the others are waited for.
            int done = 0;
            peercoll_status_t status = PEERCOLL_SUCCESS;
            while (done == 0 && now_in_milliseconds() - begin < 10'000U) {
                status = plugin.request_test(&requests[2], &done);
            }
            EXPECT_EQ(done, 1);
            EXPECT_EQ(status, PEERCOLL_ERR_PEER_LOST);
            for (peercoll_request_t& request : requests) {
                if (request != nullptr) {
                    EXPECT_TRUE(refused(plugin.request_wait(&request), PEERCOLL_ERR_PEER_LOST));
                }
                EXPECT_EQ(request, nullptr);
            }
            EXPECT_LE(now_in_milliseconds() - begin, check_ms + limit_ms);
        },
        with_loss_of({1}));
}

TEST(LostRanksBetweenCollectives, BeforeTheFirstOneAreTheAllgathersBusiness) {
    run_ranks(
        3,
        [](Rank& rank) {
            if (rank.rank() == 1) {
                raise(SIGKILL);
            }
            const Context context({"log=off"});
            const Comm comm(context, rank.exchange());
            std::int64_t word = 1;
            EXPECT_TRUE(refused(plugin.allreduce(&word, &word, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm.get()),
                                PEERCOLL_ERR_CALLBACK));
        },
        with_loss_of({1}));
}

// A rank may end as soon as its own call has returned, while the others are still in theirs.
TEST(RanksThatEnd, AfterTheirLastCollectiveAreNoLoss) {
    for (const std::size_t count : {1UL, 40UL, 2000UL, 100'000UL, 600'000UL}) {
        SCOPED_TRACE(count);
        run_ranks(4, [count](Rank& rank) {
            const Context context({"peer_check=20ms"});
            const Comm comm(context, rank.exchange());
            check_sum(rank, comm.get(), 1);
            if (rank.rank() == 3) {
                std::this_thread::sleep_for(milliseconds(150));  // several checks of the others
            }
            check_broadcast(rank, comm.get(), count, 0);
        });
    }
}

class AllRanksKilled : public testing::TestWithParam<const char*> {};

TEST_P(AllRanksKilled, LeaveNoFileAndNoProcess) {
    std::mt19937_64 random(random_seed());
    for (int attempt = 0; attempt < 15; ++attempt) {
        GroupRules rules = with_loss_of({0, 1, 2});
        const std::uint64_t delay = random() % 10;
        rules.supervise = [delay, began = std::uint64_t{0}](const Supervision& supervision) mutable {
            if (supervision.word(ready).load() < 3) {
                return;
            }
            began = began == 0 ? now_in_milliseconds() : began;
            for (int rank = 0; rank < 3 && now_in_milliseconds() >= began + delay; ++rank) {
                kill(supervision.pid(rank), SIGKILL);
            }
        };
        run_ranks(
            3,
            [](Rank& rank) {
                const Context context({GetParam(), "log=off"});
                const Comm comm(context, rank.exchange());
                check_sum(rank, comm.get(), 1);
                rank.word(ready).fetch_add(1);
                run_until_failure(rank, comm.get(), "allreduce", 50'000);
            },
            rules);
    }
}

INSTANTIATE_TEST_SUITE_P(Segments, AllRanksKilled, testing::Values("segment=auto", "segment=memfd", "segment=shm"));

}  // namespace
}  // namespace peercoll::test
