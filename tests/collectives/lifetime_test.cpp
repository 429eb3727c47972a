// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand communicators made, used and freed: nothing may grow.
#include "tests/support/leftovers.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>

namespace peercoll::test {
namespace {

constexpr int speed = sanitized ? 10 : 1;

class Lifetime : public testing::TestWithParam<int> {
protected:
    static void run_cycles(const OptionList& options, int settled, int cycles) {
        GroupRules rules;
        rules.deadline = std::chrono::seconds(150) * patience;
        run_ranks(
            GetParam(),
            [&](Rank& rank) {
                const Context context(options);
                Footprint before;
                std::size_t files_before = 0;
                for (int cycle = 1; cycle <= cycles; ++cycle) {
                    const Comm comm(context, rank.exchange());
                    std::array<std::int32_t, 200> values{};
                    values.fill(rank.rank() + cycle);
                    ASSERT_TRUE(succeeded(plugin.allreduce(values.data(), values.data(), values.size(), PEERCOLL_INT32,
                                                           PEERCOLL_MAX, comm.get())));
                    ASSERT_EQ(values[199], rank.size() - 1 + cycle);
                    if (cycle % 10 == 0) {
                        std::int32_t word = rank.rank() == 0 ? cycle : -1;
                        ASSERT_TRUE(succeeded(plugin.broadcast(&word, sizeof(word), 0, comm.get())));
                        ASSERT_EQ(word, cycle);
                    }
                    if (cycle == settled) {
                        before = footprint_of_this_process();
                        files_before = files_of_ours();
                    }
                }
                const Footprint after = footprint_of_this_process();
                EXPECT_LE(after.descriptors, before.descriptors);
                EXPECT_LE(after.mappings, before.mappings + 1) << "the heap may have split";
                // 9,000 cycles that each lost 64 bytes would be 560 KiB.
                const std::size_t allowed = sanitized ? 8U << 20 : 512U << 10;
                EXPECT_LE(after.resident_bytes, before.resident_bytes + allowed);
                EXPECT_LE(files_of_ours(), files_before);
                EXPECT_EQ(context.counter("allreduce.served"), static_cast<std::uint64_t>(cycles));
                EXPECT_EQ(context.counter("segment.count"), 1U) << "it is kept for the next communicator";
                EXPECT_EQ(context.counter("segment.reused"), static_cast<std::uint64_t>(cycles) - 1);
            },
            rules);
    }

private:
    // Files of other programs come and go in /dev/shm meanwhile.
    static std::size_t files_of_ours() {
        std::size_t count = 0;
        for (const std::string& name : files_in_dev_shm()) {
            count += name.find("peercoll") != std::string::npos ? 1 : 0;
        }
        return count;
    }
};

TEST_P(Lifetime, OfCommunicatorsLeavesNothingBehind) {
    run_cycles({"peer_check=1s"}, 1000 / speed, 10'000 / speed);
}

TEST_P(Lifetime, OfCommunicatorsInDevShmLeavesNothingBehind) {
    run_cycles({"peer_check=1s", "segment=shm"}, 500 / speed, 2000 / speed);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Lifetime, testing::Values(2, 4));

TEST(LifetimeOfUnusedCommunicators, CostsNoCommunicationAndNoSharedMemory) {
    run_ranks(2, [](Rank& rank) {
        if (rank.rank() == 1) {
            return;  // nobody answers
        }
        const Context context;
        const Footprint before = footprint_of_this_process();
        for (int i = 0; i < 10'000; ++i) {
            const Comm comm(context, rank.exchange());
        }
        EXPECT_LE(footprint_of_this_process().descriptors, before.descriptors);
        EXPECT_EQ(context.counter("segment.bytes"), 0U);
    });
}

TEST(LifetimeOfContexts, EndsWithoutATrace) {
    run_ranks(2, [](Rank& rank) {
        Footprint before;
        for (int life = 0; life < 300; ++life) {
            const Context context({"peer_check=1s"});
            const Comm comm(context, rank.exchange());
            std::int32_t one = 1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&one, &one, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            ASSERT_EQ(one, 2);
            if (life == 100) {
                before = footprint_of_this_process();
            }
        }
        const Footprint after = footprint_of_this_process();
        // The last context and communicator were still there when the first look was taken.
        EXPECT_LE(after.descriptors, before.descriptors);
        EXPECT_LE(after.mappings, before.mappings);
    });
}

}  // namespace
}  // namespace peercoll::test
