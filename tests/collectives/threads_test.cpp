// SPDX-License-Identifier: BSD-3-Clause
// Threads that each use a communicator of their own, in one context, at the same time.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr int threads = 4;
constexpr int calls = sanitized ? 60 : 400;

void use_communicator(const Context& context, const Rank& rank, int thread) {
    for (int life = 0; life < 3; ++life) {
        const Comm comm(context, rank.exchange(thread));
        for (int call = 0; call < calls; ++call) {
            const std::size_t count = call % 50 == 0 ? 30'000 : 1 + static_cast<std::size_t>(call) % 40;
            std::vector<std::int64_t> values(count, rank.rank() + 1 + thread * 1000 + call);
            const auto status =
                plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT64, PEERCOLL_SUM, comm.get());
            ASSERT_TRUE(succeeded(status));
            const std::int64_t ranks = rank.size();
            const std::int64_t expected = ranks * (ranks + 1) / 2 + ranks * (thread * 1000 + call);
            ASSERT_EQ(values.front(), expected);
            ASSERT_EQ(values.back(), expected);

            std::int64_t word = rank.rank() == call % rank.size() ? thread * 100'000 + call : -1;
            ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), call % rank.size(), comm.get())));
            ASSERT_EQ(word, thread * 100'000 + call);
        }
    }
}

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, UseTheirOwnCommunicatorsAtTheSameTime) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context({"peer_check=1s"});
        std::vector<std::thread> running;
        for (int thread = 0; thread < threads; ++thread) {
            running.emplace_back([&context, &rank, thread] { use_communicator(context, rank, thread); });
        }
        for (std::thread& thread : running) {
            thread.join();
        }
        EXPECT_EQ(context.counter("allreduce.served"), static_cast<std::uint64_t>(threads * calls * 3));
        EXPECT_EQ(context.counter("broadcast.served"), static_cast<std::uint64_t>(threads * calls * 3));
    });
}

TEST_P(Threads, EachSeeTheirOwnLastError) {
    run_ranks(1, [](Rank&) {
        const Context context;
        EXPECT_TRUE(refused(plugin.context_option(context.get(), "wrong_in_main", nullptr, nullptr),
                            PEERCOLL_ERR_INVALID_ARGUMENT, "wrong_in_main"));
        std::thread([&] {
            EXPECT_STREQ(plugin.last_error(), "") << "this thread has done nothing wrong yet";
            EXPECT_TRUE(refused(plugin.context_option(context.get(), "wrong_in_thread", nullptr, nullptr),
                                PEERCOLL_ERR_INVALID_ARGUMENT, "wrong_in_thread"));
        }).join();
        EXPECT_NE(std::string(plugin.last_error()).find("wrong_in_main"), std::string::npos);
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Threads, testing::Values(2, 3, 4));

}  // namespace
}  // namespace peercoll::test
