// SPDX-License-Identifier: BSD-3-Clause
// Broadcast from every root, at every size around a threshold, with every algorithm forced, into buffers at any
// address.
#include "collectives/algorithms.hpp"
#include "tests/collectives/algorithm_rules.hpp"
#include "tests/collectives/broadcast_runner.hpp"
#include "tests/collectives/message_sizes.hpp"
#include "tests/collectives/processor_groups.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace peercoll::test {
namespace {

std::vector<std::size_t> every_size() {
    std::vector<std::size_t> sizes = small_counts(1);
    const std::vector<std::size_t> large = large_counts(1);
    sizes.insert(sizes.end(), large.begin(), large.end());
    return sizes;
}

class Broadcast : public testing::TestWithParam<std::tuple<int, std::string>> {
protected:
    void SetUp() override { broadcast_pattern(); }  // made once, before the ranks are forked
    int ranks() const { return std::get<0>(GetParam()); }
    std::string algorithm() const { return std::get<1>(GetParam()); }

    OptionList with(OptionList options) const {
        options.push_back("broadcast_algorithm=" + algorithm());
        options.emplace_back("peer_check=1s");
        return options;
    }

    // Every root and size; every rank's buffer at another offset in every call.
    void run_every_root(Rank& rank, const OptionList& options, std::size_t groups, bool single_copy) const {
        const Context context(with(options));
        const Comm comm(context, rank.exchange());
        BroadcastRunner runner(rank.rank(), comm.get(), largest_message);
        std::uint64_t must_have_run = 0;
        for (const std::size_t bytes : every_size()) {
            for (int root = 0; root < rank.size(); ++root) {
                const std::size_t call = runner.calls();
                const std::size_t offset = (call * 5 + static_cast<std::size_t>(rank.rank()) * 3) % 64;
                if (!runner.run(bytes, root, call * 13 % BroadcastRunner::most_start, offset)) {
                    return;
                }
                must_have_run +=
                    bytes > 0 && rank.size() > 1 && must_run_if_forced(algorithm(), bytes, groups, single_copy) ? 1 : 0;
            }
        }
        EXPECT_EQ(context.counter("broadcast.served"), runner.calls());
        EXPECT_GE(context.counter("broadcast.algorithm." + algorithm()), must_have_run);
        if (algorithm() == "grouped" && groups == 1) {
            EXPECT_EQ(context.counter("broadcast.algorithm.grouped"), 0U);
        }
    }
};

TEST_P(Broadcast, FromEveryRootAtEverySize) {
    const bool single_copy = machine_allows_single_copy();
    run_ranks(ranks(), [&](Rank& rank) { run_every_root(rank, {"groups=none"}, 1, single_copy); });
}

TEST_P(Broadcast, FromEveryRootThroughTheSmallestSegment) {
    const bool single_copy = machine_allows_single_copy();
    run_ranks(ranks(), [&](Rank& rank) {
        run_every_root(rank, {"groups=none", "segment_size=64KiB"}, 1, single_copy);
    });
}

TEST_P(Broadcast, FromEveryRootInTwoCacheGroups) {
    if (ranks() < 3) {
        GTEST_SKIP() << "two groups of which one has two ranks need three ranks";
    }
    const auto processors = ProcessorGroups::make();
    if (!processors) {
        GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
    }
    const bool single_copy = machine_allows_single_copy();
    run_ranks(ranks(), [&](Rank& rank) {
        processors->bind_to(rank.rank() % 2);
        run_every_root(rank, {"groups=cache", "topology_file=" + processors->topology_file()}, 2, single_copy);
    });
}

TEST_P(Broadcast, OneAfterAnotherWithOtherRootsWhileOneRankIsSlow) {
    const std::uint64_t seed = random_seed();
    run_ranks(ranks(), [&](Rank& rank) {
        SCOPED_TRACE(seed_text(seed));
        const Context context(with({}));
        const Comm comm(context, rank.exchange());
        BroadcastRunner runner(rank.rank(), comm.get(), largest_message);
        std::mt19937_64 common(seed);
        for (int round = 0; round < 3; ++round) {
            const int slow_rank = static_cast<int>(common() % static_cast<std::uint64_t>(rank.size()));
            for (int call = 0; call < 200; ++call) {
                // Mostly tiny, so that fast ranks run ahead of the slow one; sometimes long.
                const std::size_t most = std::size_t{1} << (common() % 4 == 0 ? common() % 18 : common() % 10);
                const std::size_t bytes = common() % (most + 1);
                const int root = static_cast<int>(common() % static_cast<std::uint64_t>(rank.size()));
                const std::size_t start = common() % BroadcastRunner::most_start;
                const bool pause = common() % 8 == 0;
                if (pause && rank.rank() == slow_rank) {
                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                }
                if (!runner.run(bytes, root, start, start % 64)) {
                    return;
                }
            }
        }
    });
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, std::string>>& info) {
    return std::get<1>(info.param) + "_" + std::to_string(std::get<0>(info.param)) + "_ranks";
}

INSTANTIATE_TEST_SUITE_P(All, Broadcast,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 8),
                                          testing::ValuesIn(std::vector<std::string>(broadcast_algorithm_names.begin(),
                                                                                     broadcast_algorithm_names.end()))),
                         name_of);

}  // namespace
}  // namespace peercoll::test
