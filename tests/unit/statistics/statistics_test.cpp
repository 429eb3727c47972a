// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace peercoll {
namespace {

using testing::ElementsAre;

std::uint64_t value_of(const Statistics& statistics, std::string_view name) {
    for (const Statistics::Value& counter : statistics.all()) {
        if (counter.name == name) return counter.value;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
}

TEST(Statistics, ANameIsOneCounterHoweverOftenItIsAskedFor) {
    Statistics statistics;
    std::atomic<std::uint64_t>& first = statistics.shared("comm.created");
    for (int i = 0; i < 1000; ++i) statistics.shared("other." + std::to_string(i));
    EXPECT_EQ(&statistics.shared("comm.created"), &first) << "references must stay valid";
    first.fetch_add(2, std::memory_order_relaxed);
    EXPECT_EQ(value_of(statistics, "comm.created"), 2U);
    EXPECT_EQ(statistics.size(), 1001U);
}

TEST(Statistics, CountersKeepTheirIndex) {
    Statistics statistics;
    statistics.shared("b").fetch_add(1);
    const char* const name = statistics.at(0).name;
    for (int i = 0; i < 1000; ++i) statistics.shared("a" + std::to_string(i));
    EXPECT_EQ(statistics.at(0).name, name);
    EXPECT_STREQ(name, "b");
    EXPECT_EQ(statistics.at(0).value, 1U);
    EXPECT_STREQ(statistics.at(1000).name, "a999");
}

TEST(Statistics, TheValueIsTheSumOfSharedAndLocalCounts) {
    Statistics statistics;
    LocalCounter one = statistics.local("allreduce.served");
    LocalCounter two = statistics.local("allreduce.served");
    one.add();
    two.add(10);
    statistics.shared("allreduce.served").fetch_add(100, std::memory_order_relaxed);
    EXPECT_EQ(value_of(statistics, "allreduce.served"), 111U);
    EXPECT_EQ(statistics.size(), 1U);
}

TEST(Statistics, ALocalCountOutlivesItsOwner) {
    Statistics statistics;
    for (int i = 0; i < 10000; ++i) statistics.local("x").add(3);
    EXPECT_EQ(value_of(statistics, "x"), 30000U);
}

TEST(Statistics, AMovedLocalCounterCountsOn) {
    Statistics statistics;
    LocalCounter first = statistics.local("x");
    first.add();
    LocalCounter second = std::move(first);
    second.add();
    LocalCounter third = statistics.local("y");
    third = std::move(second);
    third.add();
    EXPECT_EQ(value_of(statistics, "x"), 3U);
    EXPECT_EQ(value_of(statistics, "y"), 0U);
}

TEST(Statistics, ThreadsThatCountAndRegisterAtOnceLoseNothing) {
    constexpr int threads = 4;
    constexpr std::uint64_t rounds = 2000;
    Statistics statistics;
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                LocalCounter local = statistics.local("local");
                local.add(2);
                statistics.shared("shared." + std::to_string(i % 7)).fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    for (int i = 0; i < 100; ++i) statistics.all();
    for (std::thread& thread : running) thread.join();

    EXPECT_EQ(value_of(statistics, "local"), threads * rounds * 2);
    std::uint64_t shared = 0;
    for (int i = 0; i < 7; ++i) shared += value_of(statistics, "shared." + std::to_string(i));
    EXPECT_EQ(shared, threads * rounds);
}

TEST(Statistics, TheSummaryTellsWhatWasServedHowAndWhatWasNot) {
    Statistics statistics;
    statistics.shared("comm.created") = 5;
    statistics.shared("broadcast.served") = 7;
    statistics.shared("broadcast.algorithm.packets") = 7;
    statistics.shared("allreduce.served") = 1200;
    statistics.shared("allreduce.bytes") = 99;
    statistics.shared("allreduce.algorithm.staged") = 200;
    statistics.shared("allreduce.algorithm.packets") = 1000;
    statistics.shared("allreduce.algorithm.grouped") = 0;
    statistics.shared("allreduce.passed_on.user_op") = 3;
    EXPECT_EQ(statistics_summary(statistics.all()),
              "allreduce 1200 served (packets 1000, staged 200), 3 passed on (user_op 3); "
              "broadcast 7 served (packets 7)");
}

TEST(Statistics, TheSummaryTellsOfACollectiveThatWasOnlyPassedOn) {
    Statistics statistics;
    statistics.shared("allreduce.passed_on.several_hosts") = 4;
    statistics.shared("allreduce.passed_on.user_op") = 5;
    EXPECT_EQ(statistics_summary(statistics.all()), "allreduce 0 served, 9 passed on (user_op 5, several_hosts 4)");
    EXPECT_EQ(statistics_summary({}), "no collective was called");
}

TEST(Statistics, AllIsALineForEachCounterInTheOrderOfNames) {
    Statistics statistics;
    statistics.shared("wait.yields") = 18446744073709551615U;
    statistics.shared("comm.created") = 0;
    EXPECT_THAT(statistics_lines(statistics.all()), ElementsAre("comm.created 0", "wait.yields 18446744073709551615"));
}

TEST(Statistics, WordsOfACallerAreShortAndPlain) {
    EXPECT_TRUE(is_counter_word("user_op"));
    EXPECT_TRUE(is_counter_word(std::string(40, 'a')));
    EXPECT_FALSE(is_counter_word(std::string(41, 'a')));
    for (const char* word : {"", "User", "a b", "a.b", "a\n", "\xc3\xa4"}) EXPECT_FALSE(is_counter_word(word)) << word;
}

}  // namespace
}  // namespace peercoll
