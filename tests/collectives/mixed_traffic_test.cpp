// SPDX-License-Identifier: BSD-3-Clause
// Random mixes of allreduce and broadcast, of any size, with ranks that come late: what one collective leaves in shared
// memory must never be seen by another.
#include "tests/collectives/allreduce_runner.hpp"
#include "tests/collectives/broadcast_runner.hpp"
#include "tests/collectives/message_sizes.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t most_bytes = 600'000;
constexpr std::size_t margin = 64;

void sometimes_be_late(std::mt19937_64& own) {
    const std::uint64_t choice = own() % 32;
    if (choice == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
    } else if (choice < 4) {
        sched_yield();
    }
}

// Sizes of all magnitudes alike.
std::size_t random_size(std::mt19937_64& common, std::size_t most) {
    const std::size_t magnitude = std::size_t{1} << (common() % 20);
    return std::min(common() % (magnitude + 1), most);
}

void run_mix(Rank& rank, const OptionList& options, const std::vector<ReductionCase>& cases, std::uint64_t seed,
             int calls) {
    SCOPED_TRACE(seed_text(seed));
    const Context context(options);
    const Comm comm(context, rank.exchange());
    AllreduceRunner allreduce(rank.rank(), comm.get(), most_bytes + 4096);
    BroadcastRunner broadcast(rank.rank(), comm.get(), most_bytes);
    std::mt19937_64 common(seed);
    std::mt19937_64 own(seed + 1 + static_cast<std::uint64_t>(rank.rank()));
    for (int call = 0; call < calls; ++call) {
        sometimes_be_late(own);
        bool right = false;
        if (common() % 2 == 0) {
            const ReductionCase& wanted = cases[common() % cases.size()];
            const std::size_t count = random_size(common, most_bytes / wanted.element_bytes);
            const std::size_t from = common() % margin;
            const bool in_place = common() % 2 == 0;
            right = allreduce.run(wanted, from, count, in_place, Compare::Values);
        } else {
            const std::size_t bytes = random_size(common, most_bytes);
            const int root = static_cast<int>(common() % static_cast<std::uint64_t>(rank.size()));
            const std::size_t start = common() % BroadcastRunner::most_start;
            right = broadcast.run(bytes, root, start, own() % 64);
        }
        if (!right) {
            return;
        }
    }
    EXPECT_EQ(context.counter("allreduce.served"), allreduce.calls());
    EXPECT_EQ(context.counter("broadcast.served"), broadcast.calls());
}

class MixedTraffic : public testing::TestWithParam<int> {
protected:
    void SetUp() override {
        broadcast_pattern();
        for (const auto& [datatype, op] :
             std::vector<std::pair<peercoll_datatype_t, peercoll_op_t>>{{PEERCOLL_FLOAT32, PEERCOLL_SUM},
                                                                        {PEERCOLL_UINT16, PEERCOLL_PROD},
                                                                        {PEERCOLL_COMPLEX_FLOAT128, PEERCOLL_SUM}}) {
            const std::size_t count = most_bytes / plugin.datatype_size(datatype) + margin;
            cases_.push_back(make_exact_case(datatype, op, GetParam(), count, 3));
        }
    }
    void run(const OptionList& options) {
        const std::uint64_t seed = random_seed();
        run_ranks(GetParam(), [&](Rank& rank) { run_mix(rank, options, cases_, seed, sanitized ? 300 : 1500); });
    }

private:
    std::vector<ReductionCase> cases_;
};

TEST_P(MixedTraffic, WithTheAlgorithmsChosenBySize) {
    run({"peer_check=1s"});
}

TEST_P(MixedTraffic, ThroughTheSmallestSegment) {
    run({"peer_check=1s", "segment_size=64KiB"});
}

TEST_P(MixedTraffic, WithoutSingleCopy) {
    run({"peer_check=1s", "single_copy=off"});
}

TEST_P(MixedTraffic, WithEveryWayToWait) {
    for (const char* wait : {"wait=spin", "wait=yield", "wait=sleep"}) {
        if (GetParam() > 2 && std::string(wait) == "wait=spin") {
            continue;  // more spinning ranks than processors take a time slice for every message
        }
        SCOPED_TRACE(wait);
        run({"peer_check=1s", wait});
    }
}

TEST_P(MixedTraffic, WithAllreduceInSlotsAndBroadcastByPackets) {
    run({"peer_check=1s", "allreduce_algorithm=slots", "broadcast_algorithm=packets"});
}

TEST_P(MixedTraffic, WithAllreduceByPacketsAndBroadcastBySingleCopy) {
    run({"peer_check=1s", "allreduce_algorithm=packets", "broadcast_algorithm=single_copy"});
}

INSTANTIATE_TEST_SUITE_P(Ranks, MixedTraffic, testing::Values(2, 3, 4, 8));

}  // namespace
}  // namespace peercoll::test
