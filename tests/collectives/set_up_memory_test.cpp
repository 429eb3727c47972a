// SPDX-License-Identifier: BSD-3-Clause
// A rank that lacks memory while a communicator is set up: all ranks get the same answer, and nobody waits for it.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {
std::atomic<bool> memory_is_short{false};
std::atomic<int> refusals{0};
}  // namespace

// The library's calls come here, too: a program's own function goes before the C library's. Whole pages are what a rank
// keeps of its team; smaller alignments are operator new's.
extern "C" __attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (memory_is_short.load() && alignment >= 4096) {
        refusals.fetch_add(1);
        return nullptr;
    }
    void* memory = nullptr;
    return ::posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

namespace peercoll::test {
namespace {

class SetUpMemory : public testing::TestWithParam<int> {};

TEST_P(SetUpMemory, OfOneRankDecidesForAllRanks) {
    run_ranks(3, [](Rank& rank) {
        const Context context;
        const Comm poor(context, rank.exchange(0));
        memory_is_short = rank.rank() == GetParam();
        std::int32_t value = 1;
        for (int call = 0; call < 2; ++call)
            EXPECT_TRUE(refused(plugin.allreduce(&value, &value, 1, PEERCOLL_INT32, PEERCOLL_SUM, poor.get()),
                                PEERCOLL_ERR_NOT_SUPPORTED, "rank " + std::to_string(GetParam()) + ": out of memory"));
        EXPECT_EQ(value, 1) << "a refused call wrote";
        EXPECT_EQ(refusals > 0, rank.rank() == GetParam());
        memory_is_short = false;
        const Comm rich(context, rank.exchange(1));
        EXPECT_TRUE(succeeded(plugin.allreduce(&value, &value, 1, PEERCOLL_INT32, PEERCOLL_SUM, rich.get())));
        EXPECT_EQ(value, rank.size());
        EXPECT_EQ(context.counter("segment.count"), 1U) << "the first communicator's segment is gone";
    });
}

INSTANTIATE_TEST_SUITE_P(Rank, SetUpMemory, testing::Values(0, 1, 2), testing::PrintToStringParamName());

}  // namespace
}  // namespace peercoll::test
