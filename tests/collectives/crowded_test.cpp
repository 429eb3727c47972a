// SPDX-License-Identifier: BSD-3-Clause
// More ranks than processors: every rank on the same one, so that nobody goes on unless others let it.
#include "tests/collectives/allreduce_runner.hpp"
#include "tests/collectives/broadcast_runner.hpp"
#include "tests/collectives/message_sizes.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace peercoll::test {
namespace {

// The calling process, which may use several processors.
void stay_on_the_first_processor() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int first = 0;
    while (first < CPU_SETSIZE && CPU_ISSET(first, &allowed) == 0) {
        ++first;
    }
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
}

class CrowdedRanks : public testing::TestWithParam<int> {};

TEST_P(CrowdedRanks, BroadcastFromEveryRootAtSizesAroundEveryThreshold) {
    broadcast_pattern();
    run_ranks(GetParam(), [](Rank& rank) {
        stay_on_the_first_processor();
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        BroadcastRunner runner(rank.rank(), comm.get(), largest_message);
        for (const std::size_t bytes : large_counts(1)) {
            for (int root = 0; root < rank.size(); ++root) {
                if (!runner.run(bytes, root, runner.calls() * 13 % BroadcastRunner::most_start, 0)) {
                    return;
                }
            }
        }
        EXPECT_EQ(context.counter("broadcast.served"), runner.calls());
    });
}

TEST_P(CrowdedRanks, ReduceAtSizesAroundEveryThreshold) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, GetParam(), most_bytes / 4 + 64, 3);
    run_ranks(GetParam(), [&wanted](Rank& rank) {
        stay_on_the_first_processor();
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        AllreduceRunner runner(rank.rank(), comm.get(), most_bytes + 4096);
        for (const std::size_t count : large_counts(4)) {
            if (count > most_bytes / 4) {
                continue;
            }
            for (const bool in_place : {false, true}) {
                if (!runner.run(wanted, 0, count, in_place, Compare::Values)) {
                    return;
                }
            }
        }
        EXPECT_EQ(context.counter("allreduce.served"), runner.calls());
    });
}

// Without a turn given to it, a reader gets the processor when the root's time slice is over: in one call of thousands.
TEST(CrowdedBroadcast, LetsAReaderFinishThatWaitsForTheProcessorOfTheRoot) {
    constexpr int calls = 200;
    constexpr std::size_t bytes = std::size_t{128} << 10;
    run_ranks(2, [](Rank& rank) {
        stay_on_the_first_processor();
        const Context context({"peer_check=1s", "broadcast_algorithm=staged"});  // the root need not wait
        const Comm comm(context, rank.exchange());
        std::vector<std::byte> buffer(bytes);
        std::atomic<std::uint64_t>& begun = rank.word(0);   // by the reader
        std::atomic<std::uint64_t>& ended = rank.word(1);   // by the reader
        std::atomic<std::uint64_t>& judged = rank.word(2);  // by the root
        int finished_before_the_root = 0;
        for (std::uint64_t call = 1; call <= calls; ++call) {
            if (rank.rank() == 0) {
                while (begun.load() < call) {
                    sched_yield();
                }
                buffer.assign(bytes, static_cast<std::byte>(call));
                ASSERT_TRUE(succeeded(plugin.broadcast(buffer.data(), bytes, 0, comm.get())));
                finished_before_the_root += ended.load() == call ? 1 : 0;
                judged.store(call);
            } else {
                begun.store(call);
                ASSERT_TRUE(succeeded(plugin.broadcast(buffer.data(), bytes, 0, comm.get())));
                ended.store(call);
                ASSERT_EQ(buffer, std::vector<std::byte>(bytes, static_cast<std::byte>(call)));
                while (judged.load() < call) {
                    sched_yield();
                }
            }
        }
        if (rank.rank() == 0) {
            EXPECT_GE(finished_before_the_root, calls / 20);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CrowdedRanks, testing::Values(2, 3, 5, 8));

}  // namespace
}  // namespace peercoll::test
