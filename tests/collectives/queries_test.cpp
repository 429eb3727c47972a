// SPDX-License-Identifier: BSD-3-Clause
// What a program can ask: options and their origin, statistics, descriptions.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::test {
namespace {

constexpr auto invalid = PEERCOLL_ERR_INVALID_ARGUMENT;

std::map<std::string, std::string> defaults_of_all_options() {
    std::map<std::string, std::string> all;
    peercoll_option_info_t info{};
    info.struct_size = sizeof(info);
    for (std::size_t index = 0; plugin.option_info(index, &info) == PEERCOLL_SUCCESS; ++index) {
        EXPECT_STRNE(info.meaning, "") << info.name;
        EXPECT_STRNE(info.values, "") << info.name;
        all[info.name] = info.default_value;
    }
    return all;
}

void collect_line(const char* line, void* user) {
    static_cast<std::vector<std::string>*>(user)->emplace_back(line);
}

testing::AssertionResult mentions(const std::vector<std::string>& lines, const std::string& word) {
    std::string all;
    for (const std::string& line : lines) {
        if (line.find(word) != std::string::npos) {
            return testing::AssertionSuccess();
        }
        all += line + "\n";
    }
    return testing::AssertionFailure() << "no line has '" << word << "':\n" << all;
}

TEST(Queries, TellEveryOptionOnceWithItsDefaultInForce) {
    run_ranks(1, [](Rank&) {
        const auto defaults = defaults_of_all_options();
        EXPECT_GE(defaults.size(), 10U);
        const Context context;
        for (const auto& [name, default_value] : defaults) {
            const char* value = nullptr;
            const char* origin = nullptr;
            ASSERT_TRUE(succeeded(plugin.context_option(context.get(), name.c_str(), &value, &origin)));
            EXPECT_EQ(value, default_value) << name;
            EXPECT_STREQ(origin, "default") << name;
            EXPECT_TRUE(succeeded(plugin.context_option(context.get(), name.c_str(), nullptr, nullptr)));
        }
        const char* value = nullptr;
        EXPECT_TRUE(refused(plugin.context_option(context.get(), "no_such_option", &value, nullptr), invalid,
                            "no_such_option"));
    });
}

TEST(Queries, TellWhereAnOptionCameFrom) {
    run_ranks(1, [](Rank&) {
        setenv("PEERCOLL_TIMEOUT", "7s", 1);
        setenv("PEERCOLL_ORDER", "rank", 1);
        const Context context({"timeout=3s"});
        const char* value = nullptr;
        const char* origin = nullptr;
        ASSERT_TRUE(succeeded(plugin.context_option(context.get(), "timeout", &value, &origin)));
        EXPECT_STREQ(value, "3s");
        EXPECT_STREQ(origin, "test") << "the caller's word wins";
        ASSERT_TRUE(succeeded(plugin.context_option(context.get(), "order", &value, &origin)));
        EXPECT_STREQ(value, "rank");
        EXPECT_STREQ(origin, "environment");
    });
}

TEST(Queries, RefuseEveryOptionThatDoesNotParseByItsName) {
    run_ranks(1, [](Rank&) {
        for (const auto& [name, default_value] : defaults_of_all_options()) {
            if (name == "topology_file" || name == "device_runtimes") {
                continue;  // any text may be a file's name; see below
            }
            const std::string option = name + "=no such value";
            const char* const options[] = {option.c_str(), nullptr};
            peercoll_context_params_t params{};
            params.struct_size = sizeof(params);
            params.options = options;
            peercoll_context_t context = nullptr;
            EXPECT_TRUE(refused(plugin.context_create(&params, &context), invalid, name));
            EXPECT_EQ(context, nullptr);
        }
        const std::vector<std::pair<const char*, const char*>> texts_and_words{
            {"no_such_option=1", "no_such_option"}, {"timeout", "timeout"}, {"=5s", "option"}, {"", "name=value"}};
        for (const auto& [text, word] : texts_and_words) {
            const char* const options[] = {text, nullptr};
            peercoll_context_params_t params{};
            params.struct_size = sizeof(params);
            params.options = options;
            peercoll_context_t context = nullptr;
            EXPECT_TRUE(refused(plugin.context_create(&params, &context), invalid, word)) << "'" << text << "'";
            EXPECT_EQ(context, nullptr);
        }
    });
}

TEST(Queries, CountWhatWasServedAndWhatWasPassedOn) {
    run_ranks(2, [](Rank& rank) {
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        std::int32_t word = 1;
        ASSERT_TRUE(succeeded(plugin.allreduce(&word, &word, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
        ASSERT_TRUE(succeeded(plugin.broadcast(&word, 4, 0, comm.get())));
        ASSERT_TRUE(succeeded(plugin.broadcast(&word, 4, 1, comm.get())));
        ASSERT_TRUE(succeeded(plugin.comm_passed_on(comm.get(), PEERCOLL_ALLREDUCE, "user_op")));
        ASSERT_TRUE(succeeded(plugin.comm_passed_on(comm.get(), PEERCOLL_ALLREDUCE, "user_op")));
        ASSERT_TRUE(succeeded(plugin.comm_passed_on(comm.get(), PEERCOLL_BROADCAST, "several_hosts")));
        EXPECT_EQ(context.counter("allreduce.served"), 1U);
        EXPECT_EQ(context.counter("broadcast.served"), 2U);
        EXPECT_EQ(context.counter("allreduce.passed_on.user_op"), 2U);
        EXPECT_EQ(context.counter("broadcast.passed_on.several_hosts"), 1U);
        EXPECT_EQ(algorithms_used(context, "allreduce").size(), 1U);
        EXPECT_TRUE(refused(plugin.comm_passed_on(comm.get(), PEERCOLL_COLLECTIVE_END, "user_op"), invalid));
        EXPECT_TRUE(refused(plugin.comm_passed_on(comm.get(), PEERCOLL_ALLREDUCE, "Not A Word"), invalid));
        EXPECT_TRUE(refused(plugin.comm_passed_on(comm.get(), PEERCOLL_ALLREDUCE, nullptr), invalid));
        EXPECT_TRUE(refused(plugin.statistic(context.get(), 100'000, nullptr, nullptr), invalid));
    });
}

TEST(Queries, TellTheSharedMemoryOfThePresentWithinTheDocumentedLimit) {
    for (const int ranks : {2, 4, 8}) {
        run_ranks(ranks, [](Rank& rank) {
            const Context context({"peer_check=1s"});
            {
                const Comm unused(context, rank.exchange(1));
                EXPECT_EQ(context.counter("segment.bytes"), 0U) << "a communicator that is never used has no segment";
                const Comm used(context, rank.exchange(0));
                std::int32_t word = 1;
                ASSERT_TRUE(succeeded(plugin.allreduce(&word, &word, 1, PEERCOLL_INT32, PEERCOLL_SUM, used.get())));
                EXPECT_GT(context.counter("segment.bytes"), 0U);
                EXPECT_LE(context.counter("segment.bytes"),
                          (1U << 20) + (64U << 10) * static_cast<unsigned>(rank.size()));
            }
            EXPECT_EQ(context.counter("segment.count"), 1U) << "kept for the next communicator of these processes";
        });
    }
}

TEST(Queries, DescribeTheTopologyAndTheCommunicator) {
    GroupRules rules;
    rules.look_for_leaks = false;  // hwloc's plugins for devices load libraries of vendors, which leak
    run_ranks(
        3,
        [](Rank& rank) {
            const Context context({"peer_check=1s"});
            const Comm comm(context, rank.exchange());
            std::vector<std::string> lines;
            ASSERT_TRUE(succeeded(plugin.describe_topology(context.get(), &collect_line, &lines)));
            EXPECT_GE(lines.size(), 2U);
            lines.clear();
            // Before the first collective: sets the communicator up, on all ranks alike.
            ASSERT_TRUE(succeeded(plugin.describe_comm(comm.get(), &collect_line, &lines)));
            EXPECT_GE(lines.size(), 3U);
            for (const std::string& line : lines) {
                EXPECT_EQ(line.find('\n'), std::string::npos);
            }
            if (rank.rank() == 0) {
                std::vector<std::string> again;
                ASSERT_TRUE(succeeded(plugin.describe_comm(comm.get(), &collect_line, &again))) << "local from now on";
                EXPECT_EQ(lines, again);
            }
            EXPECT_TRUE(mentions(lines, "group"));
            EXPECT_TRUE(refused(plugin.describe_comm(comm.get(), nullptr, nullptr), invalid));
            EXPECT_TRUE(refused(plugin.describe_topology(nullptr, &collect_line, &lines), invalid));
        },
        rules);
}

}  // namespace
}  // namespace peercoll::test
