// SPDX-License-Identifier: BSD-3-Clause
// Collectives of ranks on several nodes through the C interface: placements of every shape, exact values and bits.
#include "tests/several_nodes/pretended_nodes.hpp"
#include "tests/support/plugin.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace peercoll::test {

namespace {

// What rank `rank` contributes: integers, and fractions whose sums are rounded.
std::int64_t integer(int rank, std::size_t i) {
    return (rank + 1) * 1000003 + static_cast<std::int64_t>(i) * (rank + 7);
}
float fraction(int rank, std::size_t i) {
    return 1.0F / static_cast<float>(3 + static_cast<std::size_t>(rank) * 5 + i % 101) *
           static_cast<float>(rank % 2 == 0 ? 1000 : 1);
}

float fold_ranks(const std::vector<int>& ranks, std::size_t i) {
    float sum = fraction(ranks.front(), i);
    for (std::size_t k = 1; k < ranks.size(); ++k) sum += fraction(ranks[k], i);
    return sum;
}

// The plan for up to four nodes: ranks in order inside a node, then the nodes as a balanced tree.
float planned_sum(const std::vector<std::vector<int>>& nodes, std::size_t i) {
    switch (nodes.size()) {
        case 2:
            return fold_ranks(nodes[0], i) + fold_ranks(nodes[1], i);
        case 3:
            return (fold_ranks(nodes[0], i) + fold_ranks(nodes[1], i)) + fold_ranks(nodes[2], i);
        case 4:
            return (fold_ranks(nodes[0], i) + fold_ranks(nodes[1], i)) +
                   (fold_ranks(nodes[2], i) + fold_ranks(nodes[3], i));
        default:
            return fold_ranks(nodes[0], i);
    }
}

float sum_in_rank_order(int ranks, std::size_t i) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return fold_ranks(all, i);
}

// One, a few, beside a cache line, some KiB, and several chunks between nodes with a rest.
const std::vector<std::size_t> counts = {1, 3, 17, 1000, 5001, 40000, 700001};

void expect_integer_sums(Rank& rank, peercoll_comm_t comm, std::size_t count) {
    std::vector<std::int64_t> mine(count);
    std::vector<std::int64_t> sums(count, -1);
    for (std::size_t i = 0; i < count; ++i) mine[i] = integer(rank.rank(), i);
    ASSERT_TRUE(succeeded(plugin.allreduce(mine.data(), sums.data(), count, PEERCOLL_INT64, PEERCOLL_SUM, comm)));
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t expected = 0;
        for (int r = 0; r < rank.size(); ++r) expected += integer(r, i);
        ASSERT_EQ(sums[i], expected) << "element " << i << " of " << count;
        ASSERT_EQ(mine[i], integer(rank.rank(), i)) << "the input has changed";
    }
}

template <typename Expected>
void expect_float_bits(Rank& rank, peercoll_comm_t comm, std::size_t count, Expected&& expected) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = fraction(rank.rank(), i);
    ASSERT_TRUE(succeeded(plugin.allreduce(values.data(), values.data(), count, PEERCOLL_FLOAT32, PEERCOLL_SUM, comm)));
    for (std::size_t i = 0; i < count; ++i) {
        const float wanted = expected(i);
        ASSERT_EQ(std::memcmp(&values[i], &wanted, sizeof wanted), 0)
            << "element " << i << " of " << count << ": " << values[i] << ", expected " << wanted;
    }
}

void expect_broadcast(Rank& rank, peercoll_comm_t comm, std::size_t bytes, int root) {
    std::vector<std::uint8_t> buffer(bytes);
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint8_t>(i * 31 + i / 251 + bytes + static_cast<std::size_t>(root));
    };
    if (rank.rank() == root)
        for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte(i);
    ASSERT_TRUE(succeeded(plugin.broadcast(buffer.data(), bytes, root, comm)));
    for (std::size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(buffer[i], byte(i)) << "byte " << i << " of " << bytes << ", root " << root;
}

}  // namespace

class Placement : public testing::TestWithParam<std::vector<int>> {
protected:
    void SetUp() override {
        if (const std::string why = why_no_nodes(); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_P(Placement, AllreduceGivesTheSumsAndTheBitsOfThePlanOnAllRanks) {
    const auto nodes = ranks_of_nodes(GetParam());
    for (const char* executors : {"executors=auto", "executors=one", "executors=per_rank"}) {
        SCOPED_TRACE(executors);
        run_nodes(GetParam(), [&](Rank& rank) {
            const Context context({"groups=none", executors});
            const Comm comm(context, rank.exchange());
            for (const std::size_t count : counts) {
                expect_integer_sums(rank, comm.get(), count);
                expect_float_bits(rank, comm.get(), count, [&](std::size_t i) { return planned_sum(nodes, i); });
                if (rank.failures() > 0) return;
            }
            EXPECT_EQ(context.counter("allreduce.served"), 2 * counts.size());
        });
    }
}

TEST_P(Placement, OrderRankGivesTheBitsOfOneNode) {
    run_nodes(GetParam(), [&](Rank& rank) {
        const Context context({"order=rank"});
        const Comm comm(context, rank.exchange());
        for (const std::size_t count : counts) {
            expect_float_bits(rank, comm.get(), count,
                              [&](std::size_t i) { return sum_in_rank_order(rank.size(), i); });
            if (rank.failures() > 0) return;
        }
        EXPECT_EQ(context.counter("allreduce.hosts.rank_order"), counts.size());
    });
}

TEST_P(Placement, OperationsThatDoNotCommuteGoInRankOrder) {
    run_nodes(GetParam(), [&](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        for (const std::size_t count : {std::size_t{1}, std::size_t{300001}}) {
            std::vector<std::int32_t> values(count, rank.rank());
            ASSERT_TRUE(succeeded(
                plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT32, PEERCOLL_REPLACE, comm.get())));
            EXPECT_EQ(values, std::vector<std::int32_t>(count, rank.size() - 1)) << "the last rank's values";
            values.assign(count, rank.rank() + 5);
            ASSERT_TRUE(succeeded(
                plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT32, PEERCOLL_NO_OP, comm.get())));
            EXPECT_EQ(values, std::vector<std::int32_t>(count, 5)) << "the first rank's values";
        }
    });
}

TEST_P(Placement, BroadcastReachesAllFromAnyRoot) {
    run_nodes(GetParam(), [&](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        for (int root = 0; root < rank.size(); ++root)
            for (const std::size_t bytes : {1u, 1000u, 70000u, 3000001u}) {
                expect_broadcast(rank, comm.get(), bytes, root);
                if (rank.failures() > 0) return;
            }
        EXPECT_EQ(context.counter("broadcast.served"), 4u * static_cast<unsigned>(rank.size()));
    });
}

TEST_P(Placement, ManyStartedAndPersistentRequestsCompleteInOrder) {
    run_nodes(GetParam(), [&](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        constexpr std::size_t count = 30000;
        constexpr std::size_t calls = 6;
        std::vector<std::vector<std::int64_t>> values(calls, std::vector<std::int64_t>(count));
        std::vector<peercoll_request_t> requests(calls);
        const auto fill = [&] {
            for (std::size_t c = 0; c < calls; ++c)
                for (std::size_t i = 0; i < count; ++i)
                    values[c][i] = c % 2 == 0 || rank.rank() == 1 ? integer(rank.rank(), i + c) : 0;
        };
        const auto check = [&] {
            for (std::size_t c = 0; c < calls; ++c) {
                for (std::size_t i = 0; i < count; ++i) {
                    std::int64_t expected = c % 2 == 1 ? integer(1, i + c) : 0;
                    for (int r = 0; c % 2 == 0 && r < rank.size(); ++r) expected += integer(r, i + c);
                    ASSERT_EQ(values[c][i], expected) << "call " << c << ", element " << i;
                }
            }
        };
        fill();
        for (std::size_t c = 0; c < calls; ++c) {
            ASSERT_TRUE(succeeded(
                c % 2 == 0 ? plugin.allreduce_start(values[c].data(), values[c].data(), count, PEERCOLL_INT64,
                                                    PEERCOLL_SUM, comm.get(), &requests[c])
                           : plugin.broadcast_start(values[c].data(), count * 8, 1, comm.get(), &requests[c])));
        }
        for (auto& request : requests) ASSERT_TRUE(succeeded(plugin.request_wait(&request)));
        check();
        for (std::size_t c = 0; c < calls; ++c) {
            ASSERT_TRUE(succeeded(
                c % 2 == 0 ? plugin.allreduce_init(values[c].data(), values[c].data(), count, PEERCOLL_INT64,
                                                   PEERCOLL_SUM, comm.get(), &requests[c])
                           : plugin.broadcast_init(values[c].data(), count * 8, 1, comm.get(), &requests[c])));
        }
        for (int round = 0; round < 3; ++round) {
            fill();
            for (auto& request : requests) ASSERT_TRUE(succeeded(plugin.request_start(request)));
            for (auto& request : requests) {
                for (int done = 0; done == 0;) ASSERT_TRUE(succeeded(plugin.request_test(&request, &done)));
            }
            check();
        }
        for (auto& request : requests) ASSERT_TRUE(succeeded(plugin.request_free(&request)));
    });
}

// Even, one rank per node, uneven, interleaved, and one node that holds all but the last rank.
INSTANTIATE_TEST_SUITE_P(Of, Placement,
                         testing::Values(std::vector{0, 0, 1, 1}, std::vector{0, 1}, std::vector{0, 1, 2},
                                         std::vector{0, 0, 0, 1, 2}, std::vector{0, 1, 0, 1, 2},
                                         std::vector{0, 1, 2, 3}, std::vector{0, 0, 0, 1}));

}  // namespace peercoll::test
