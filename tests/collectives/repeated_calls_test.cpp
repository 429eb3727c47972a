// SPDX-License-Identifier: BSD-3-Clause
// Tiny calls like the one before take a shorter way. It must stop being taken wherever something differs.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace peercoll::test {
namespace {

constexpr auto invalid = PEERCOLL_ERR_INVALID_ARGUMENT;

class RepeatedCalls : public testing::TestWithParam<int> {};

std::int32_t sum_of_ranks(int size, std::int32_t factor) {
    return factor * size * (size - 1) / 2;
}

TEST_P(RepeatedCalls, GiveEachCallItsOwnResult) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        for (std::int32_t call = 1; call <= 500; ++call) {
            const std::int32_t mine = rank.rank() * call;
            std::int32_t sum = -1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&mine, &sum, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            ASSERT_EQ(sum, sum_of_ranks(rank.size(), call));
        }
    });
}

TEST_P(RepeatedCalls, MayBeInPlaceOrNotFromCallToCall) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        for (std::int32_t call = 1; call <= 50; ++call) {
            const std::int32_t mine = rank.rank() * call;
            std::int32_t result = call % 2 == 0 ? mine : -1;
            const void* from = call % 2 == 0 ? &result : &mine;
            ASSERT_TRUE(succeeded(plugin.allreduce(from, &result, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            ASSERT_EQ(result, sum_of_ranks(rank.size(), call));
        }
    });
}

TEST_P(RepeatedCalls, NoticeAnotherOperationDatatypeOrCount) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        const std::int32_t largest = rank.size() - 1;
        for (int round = 0; round < 20; ++round) {
            const std::array<std::int32_t, 2> mine{rank.rank(), 1};
            std::array<std::int32_t, 2> result{-1, -1};
            const auto reduce = [&](std::size_t count, peercoll_datatype_t datatype, peercoll_op_t op) {
                result = {-1, -1};
                ASSERT_TRUE(succeeded(plugin.allreduce(mine.data(), result.data(), count, datatype, op, comm.get())));
            };
            reduce(1, PEERCOLL_INT32, PEERCOLL_SUM);
            EXPECT_EQ(result, (std::array<std::int32_t, 2>{sum_of_ranks(rank.size(), 1), -1}));
            reduce(1, PEERCOLL_INT32, PEERCOLL_MAX);
            EXPECT_EQ(result, (std::array<std::int32_t, 2>{largest, -1}));
            reduce(2, PEERCOLL_INT32, PEERCOLL_MAX);
            EXPECT_EQ(result, (std::array<std::int32_t, 2>{largest, 1}));
            reduce(2, PEERCOLL_UINT8, PEERCOLL_MAX);
            // The first two of the number's bytes, of which all but the least are 0 for so few ranks.
            EXPECT_EQ(reinterpret_cast<const std::uint8_t*>(result.data())[0], largest);
            EXPECT_EQ(reinterpret_cast<const std::uint8_t*>(result.data())[2], 0xff) << "is beyond the two";
        }
    });
}

TEST_P(RepeatedCalls, AreCheckedLikeTheFirst) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        std::array<std::int32_t, 8> values{};
        const auto reduce = [&](const void* from, void* to) {
            return plugin.allreduce(from, to, 4, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
        };
        ASSERT_TRUE(succeeded(reduce(&values[0], &values[4])));
        EXPECT_TRUE(refused(reduce(nullptr, &values[4]), invalid));
        EXPECT_TRUE(refused(reduce(&values[0], nullptr), invalid));
        EXPECT_TRUE(refused(reduce(&values[0], &values[3]), invalid)) << "one element overlaps";
        EXPECT_TRUE(refused(reduce(&values[3], &values[0]), invalid)) << "one element overlaps";
        EXPECT_TRUE(refused(plugin.broadcast(nullptr, 4, 0, comm.get()), invalid));
        EXPECT_TRUE(refused(plugin.broadcast(values.data(), 4, rank.size(), comm.get()), invalid));
        EXPECT_TRUE(refused(plugin.broadcast(values.data(), 4, -1, comm.get()), invalid));
        values[0] = rank.rank();
        ASSERT_TRUE(succeeded(reduce(&values[0], &values[4])));
        EXPECT_EQ(values[4], sum_of_ranks(rank.size(), 1));
    });
}

TEST_P(RepeatedCalls, TakeTheirTurnBehindAStartedRequest) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        const std::int32_t mine = rank.rank();
        for (int round = 0; round < 30; ++round) {
            std::int32_t sum = -1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&mine, &sum, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            std::int32_t started = -1;
            peercoll_request_t request = nullptr;
            ASSERT_TRUE(succeeded(
                plugin.allreduce_start(&mine, &started, 1, PEERCOLL_INT32, PEERCOLL_MAX, comm.get(), &request)));
            std::int32_t blocking = -1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&mine, &blocking, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            std::int32_t told = rank.rank() == 0 ? round : -1;
            ASSERT_TRUE(succeeded(plugin.broadcast(&told, sizeof told, 0, comm.get())));
            ASSERT_TRUE(succeeded(plugin.request_wait(&request)));
            EXPECT_EQ(sum, sum_of_ranks(rank.size(), 1));
            EXPECT_EQ(started, rank.size() - 1);
            EXPECT_EQ(blocking, sum_of_ranks(rank.size(), 1));
            EXPECT_EQ(told, round);
        }
    });
}

TEST_P(RepeatedCalls, AreCountedOneByOne) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        constexpr std::uint64_t calls = 37;
        for (std::uint64_t call = 0; call < calls; ++call) {
            std::int64_t value = 1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&value, &value, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm.get())));
            ASSERT_TRUE(succeeded(plugin.broadcast(&value, sizeof value, 0, comm.get())));
        }
        for (const char* collective : {"allreduce", "broadcast"}) {
            EXPECT_EQ(context.counter(std::string(collective) + ".served"), calls);
            EXPECT_EQ(context.counter(std::string(collective) + ".bytes"), calls * sizeof(std::int64_t));
            EXPECT_EQ(context.counter(std::string(collective) + ".algorithm.packets"), calls);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, RepeatedCalls, testing::Values(2, 3, 4), testing::PrintToStringParamName());

}  // namespace
}  // namespace peercoll::test
