// SPDX-License-Identifier: BSD-3-Clause
// Started and persistent collectives: any order of testing and waiting, several communicators, many outstanding.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

namespace peercoll::test {
namespace {

using Numbers = std::vector<std::int64_t>;

// What rank r contributes as number `call`: r + 1 + call everywhere, so that the sum is known.
Numbers numbers(int rank, int call, std::size_t count) {
    return Numbers(count, rank + 1 + call);
}
std::int64_t sum_of(int ranks, int call) {
    return ranks * (ranks + 1) / 2 + static_cast<std::int64_t>(ranks) * call;
}

testing::AssertionResult all_are(const Numbers& found, std::int64_t wanted) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] != wanted) {
            return testing::AssertionFailure() << "element " << i << " is " << found[i] << " and not " << wanted;
        }
    }
    return testing::AssertionSuccess();
}

// An allreduce with buffers of its own that is started and ended separately.
struct Started {
    Started(int rank, int call, std::size_t count) : input(numbers(rank, call, count)), output(count, -1) {}
    peercoll_status_t start(peercoll_comm_t comm) {
        return plugin.allreduce_start(input.data(), output.data(), input.size(), PEERCOLL_INT64, PEERCOLL_SUM, comm,
                                      &request);
    }
    peercoll_status_t init(peercoll_comm_t comm) {
        return plugin.allreduce_init(input.data(), output.data(), input.size(), PEERCOLL_INT64, PEERCOLL_SUM, comm,
                                     &request);
    }
    Numbers input;
    Numbers output;
    peercoll_request_t request = nullptr;
};

const OptionList options{"peer_check=1s"};

class Requests : public testing::TestWithParam<int> {};

TEST_P(Requests, GiveTheResultWhenWaitedFor) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        for (const std::size_t count : {0UL, 1UL, 100UL, 10'000UL, 300'000UL}) {
            Started sum(rank.rank(), 3, count);
            ASSERT_TRUE(succeeded(sum.start(comm.get())));
            ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
            EXPECT_EQ(sum.request, nullptr);
            EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 3)));
        }
    });
}

TEST_P(Requests, CompleteByTestingAlone) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        Started sum(rank.rank(), 0, 50'000);
        ASSERT_TRUE(succeeded(sum.start(comm.get())));
        int done = 0;
        while (done == 0) {
            ASSERT_TRUE(succeeded(plugin.request_test(&sum.request, &done)));
            sched_yield();
        }
        EXPECT_EQ(sum.request, nullptr);
        EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 0)));
        ASSERT_TRUE(succeeded(plugin.request_test(&sum.request, &done)));
        EXPECT_EQ(done, 1) << "a null request is done";
        EXPECT_TRUE(succeeded(plugin.request_wait(&sum.request))) << "and need not be waited for";
    });
}

TEST_P(Requests, AreNotDoneBeforeEveryRankHasStarted) {
    if (GetParam() == 1) {
        GTEST_SKIP() << "one rank has nobody to wait for";
    }
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        Started first(rank.rank(), 0, 8);
        ASSERT_TRUE(succeeded(first.start(comm.get())));
        ASSERT_TRUE(succeeded(plugin.request_wait(&first.request)));
        Started sum(rank.rank(), 1, 1000);
        if (rank.rank() == 0) {
            ASSERT_TRUE(succeeded(sum.start(comm.get())));
            for (int look = 0; look < 100; ++look) {
                int done = 1;
                ASSERT_TRUE(succeeded(plugin.request_test(&sum.request, &done)));
                ASSERT_EQ(done, 0);
            }
        }
        ASSERT_TRUE(rank.exchange(1).meet());
        if (rank.rank() != 0) {
            ASSERT_TRUE(succeeded(sum.start(comm.get())));
        }
        ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
        EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 1)));
    });
}

TEST_P(Requests, OfManyStartedOnOneCommunicatorEndInAnyOrderOfWaiting) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        std::vector<Started> sums;
        for (int call = 0; call < 60; ++call) {
            sums.emplace_back(rank.rank(), call, 1 + static_cast<std::size_t>(call) * call * 7);
        }
        for (Started& sum : sums) {
            ASSERT_TRUE(succeeded(sum.start(comm.get())));
        }
        // Every rank waits in another order.
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::size_t pick = (i * 7 + static_cast<std::size_t>(rank.rank()) * 11) % sums.size();
            ASSERT_TRUE(succeeded(plugin.request_wait(&sums[pick].request)));
            ASSERT_TRUE(all_are(sums[pick].output, sum_of(rank.size(), static_cast<int>(pick)))) << "call " << pick;
        }
    });
}

TEST_P(Requests, OnTwoCommunicatorsMayBeStartedAndWaitedForInOppositeOrders) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm one(context, rank.exchange(0));
        const Comm two(context, rank.exchange(1));
        // The first collective calls the allgather, and so has to come in the same order everywhere.
        for (const Comm* comm : {&one, &two}) {
            Started first(rank.rank(), 0, 1);
            ASSERT_TRUE(succeeded(first.start(comm->get())));
            ASSERT_TRUE(succeeded(plugin.request_wait(&first.request)));
        }
        for (int round = 0; round < 50; ++round) {
            const std::size_t count = round % 3 == 0 ? 40'000 : 5;
            Started on_one(rank.rank(), round, count);
            Started on_two(rank.rank(), round + 1000, count);
            const bool other_way = (rank.rank() + round) % 2 == 1;
            ASSERT_TRUE(succeeded(other_way ? on_two.start(two.get()) : on_one.start(one.get())));
            ASSERT_TRUE(succeeded(other_way ? on_one.start(one.get()) : on_two.start(two.get())));
            // Whoever is waited for first, the other must go on meanwhile.
            ASSERT_TRUE(succeeded(plugin.request_wait(other_way ? &on_two.request : &on_one.request)));
            ASSERT_TRUE(succeeded(plugin.request_wait(other_way ? &on_one.request : &on_two.request)));
            ASSERT_TRUE(all_are(on_one.output, sum_of(rank.size(), round)));
            ASSERT_TRUE(all_are(on_two.output, sum_of(rank.size(), round + 1000)));
        }
    });
}

// Rank 0 waits in a blocking call on one communicator while a peer needs it on the other.
TEST_P(Requests, GoOnWhileABlockingCallOnAnotherCommunicatorWaits) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm one(context, rank.exchange(0));
        const Comm two(context, rank.exchange(1));
        std::int64_t word = 0;
        ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, one.get())));
        ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, two.get())));
        Started sum(rank.rank(), 5, 100'000);
        ASSERT_TRUE(succeeded(sum.start(one.get())));
        if (rank.rank() != 0) {
            ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
        }
        Numbers other = numbers(rank.rank(), 0, 10);
        ASSERT_TRUE(
            succeeded(plugin.allreduce(other.data(), other.data(), 10, PEERCOLL_INT64, PEERCOLL_SUM, two.get())));
        ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
        EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 5)));
        EXPECT_TRUE(all_are(other, sum_of(rank.size(), 0)));
    });
}

TEST_P(Requests, AdvanceByTheContextsProgress) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        Started sum(rank.rank(), 9, 200'000);
        ASSERT_TRUE(succeeded(sum.start(comm.get())));
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10) * patience;
        // Nobody tests or waits. A rank whose output is complete goes on, because others may still need it.
        bool seen = false;
        while (rank.word(0).load() < static_cast<std::uint64_t>(rank.size()) &&
               std::chrono::steady_clock::now() < limit) {
            ASSERT_TRUE(succeeded(plugin.context_progress(context.get())));
            if (!seen && all_are(sum.output, sum_of(rank.size(), 9))) {
                seen = true;
                rank.word(0).fetch_add(1);
            }
            sched_yield();
        }
        EXPECT_TRUE(seen) << "the output was never complete";
        ASSERT_TRUE(rank.exchange(1).meet());
        ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
        EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 9)));
    });
}

TEST_P(Requests, ArePersistentAndReadTheBufferAnewAtEveryStart) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        Started sum(rank.rank(), 0, 3000);
        ASSERT_TRUE(succeeded(sum.init(comm.get())));
        ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request))) << "an inactive persistent request is done";
        ASSERT_NE(sum.request, nullptr);
        std::vector<std::int64_t> words(40, rank.rank() == 0 ? 77 : 0);
        peercoll_request_t broadcast = nullptr;
        ASSERT_TRUE(succeeded(plugin.broadcast_init(words.data(), 320, 0, comm.get(), &broadcast)));
        for (int round = 0; round < 1000; ++round) {
            std::fill(sum.input.begin(), sum.input.end(), rank.rank() + 1 + round);
            words[0] = rank.rank() == 0 ? round : -1;
            ASSERT_TRUE(succeeded(plugin.request_start(sum.request)));
            ASSERT_TRUE(succeeded(plugin.request_start(broadcast)));
            ASSERT_TRUE(succeeded(plugin.request_wait(&broadcast)));
            ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
            ASSERT_TRUE(all_are(sum.output, sum_of(rank.size(), round))) << "round " << round;
            ASSERT_EQ(words[0], round);
            ASSERT_EQ(words[39], 77);
        }
        EXPECT_NE(sum.request, nullptr);
        EXPECT_TRUE(succeeded(plugin.request_free(&sum.request)));
        EXPECT_TRUE(succeeded(plugin.request_free(&broadcast)));
        EXPECT_EQ(sum.request, nullptr);
        EXPECT_EQ(broadcast, nullptr);
        EXPECT_EQ(context.counter("allreduce.served"), 1000U);
        EXPECT_EQ(context.counter("broadcast.served"), 1000U);
    });
}

TEST_P(Requests, MixWithBlockingCallsInOneOrder) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context(options);
        const Comm comm(context, rank.exchange());
        for (int round = 0; round < 100; ++round) {
            Started sum(rank.rank(), round, 2000);
            ASSERT_TRUE(succeeded(sum.start(comm.get())));
            std::int64_t word = rank.rank() == 0 ? round : -1;
            ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, comm.get())));
            EXPECT_EQ(word, round);
            ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
            ASSERT_TRUE(all_are(sum.output, sum_of(rank.size(), round)));
        }
    });
}

TEST_P(Requests, KeepTheirObjectsBusyWhileTheyAreActive) {
    if (GetParam() == 1) {
        GTEST_SKIP() << "with one rank no request stays active";
    }
    run_ranks(GetParam(), [](Rank& rank) {
        Exchange exchange = rank.exchange();
        const Context context(options);
        const peercoll_comm_params_t params = comm_params(exchange);
        peercoll_comm_t comm = nullptr;
        ASSERT_TRUE(succeeded(plugin.comm_create(context.get(), &params, &comm)));
        std::int64_t word = 0;
        ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, comm)));
        EXPECT_TRUE(refused(plugin.context_destroy(context.get()), PEERCOLL_ERR_BUSY));

        Started sum(rank.rank(), 0, 1000);
        ASSERT_TRUE(succeeded(sum.init(comm)));
        EXPECT_TRUE(refused(plugin.comm_destroy(comm), PEERCOLL_ERR_BUSY)) << "a persistent request exists";
        if (rank.rank() == 0) {
            ASSERT_TRUE(succeeded(plugin.request_start(sum.request)));
            EXPECT_TRUE(refused(plugin.request_start(sum.request), PEERCOLL_ERR_BUSY));
            EXPECT_TRUE(refused(plugin.request_free(&sum.request), PEERCOLL_ERR_BUSY));
            EXPECT_TRUE(refused(plugin.comm_destroy(comm), PEERCOLL_ERR_BUSY));
            EXPECT_NE(sum.request, nullptr);
        }
        ASSERT_TRUE(rank.exchange(1).meet());
        if (rank.rank() != 0) {
            ASSERT_TRUE(succeeded(plugin.request_start(sum.request)));
        }
        ASSERT_TRUE(succeeded(plugin.request_wait(&sum.request)));
        EXPECT_TRUE(all_are(sum.output, sum_of(rank.size(), 0)));
        ASSERT_TRUE(succeeded(plugin.request_free(&sum.request)));
        EXPECT_TRUE(succeeded(plugin.comm_destroy(comm)));
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Requests, testing::Values(1, 2, 4, 5));

}  // namespace
}  // namespace peercoll::test
