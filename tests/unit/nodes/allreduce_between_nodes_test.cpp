// SPDX-License-Identifier: BSD-3-Clause
// The schedules of allreduce between nodes, run without wires by the code that runs them with wires.
#include "collectives/nodes/allreduce_halving.hpp"
#include "collectives/nodes/exchange.hpp"
#include "tests/unit/nodes/expressions.hpp"
#include "tests/unit/nodes/simulated_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

namespace peercoll::test {

namespace {

// A job of `nodes` nodes in which node i has ranks_of[i], folded inside in their order (but for rank order). Every
// second node has its contribution elsewhere than its result, whose memory holds something else before.
class Job {
public:
    Job(NodeAllreduce algorithm, std::vector<std::vector<int>> ranks, std::size_t count)
        : algorithm_(algorithm), ranks_(std::move(ranks)), count_(count), nodes_(size()) {
        for (int node = 0; node < size(); ++node) {
            const std::vector<int>& own = ranks_[static_cast<std::size_t>(node)];
            std::vector<std::uint64_t>& result = results_.emplace_back(count);
            for (std::size_t i = 0; i < count; ++i) result[i] = node_value(node, i);
            std::vector<std::uint64_t>& elsewhere = elsewhere_.emplace_back();
            if (node % 2 == 1) elsewhere = std::exchange(result, std::vector<std::uint64_t>(count, poison));
            std::vector<std::vector<std::uint64_t>>& inputs = inputs_.emplace_back();
            if (algorithm != NodeAllreduce::RankOrder) continue;
            for (const int rank : own) {
                std::vector<std::uint64_t>& input = inputs.emplace_back(count);
                for (std::size_t i = 0; i < count; ++i) input[i] = leaf(rank, i);
            }
        }
    }

    int size() const { return static_cast<int>(ranks_.size()); }
    SimulatedNodes& nodes() { return nodes_; }
    std::uint64_t node_value(int node, std::size_t element) const {
        const std::vector<int>& own = ranks_[static_cast<std::size_t>(node)];
        std::uint64_t value = leaf(own.front(), element);
        for (std::size_t k = 1; k < own.size(); ++k) value = combined(value, leaf(own[k], element));
        return value;
    }
    std::uint64_t expected(std::size_t element) const {
        if (algorithm_ != NodeAllreduce::RankOrder)
            return tree_value(size(), [&](int node) { return node_value(node, element); });
        int ranks = 0;
        for (const std::vector<int>& own : ranks_) ranks += static_cast<int>(own.size());
        std::uint64_t value = leaf(0, element);
        for (int rank = 1; rank < ranks; ++rank) value = combined(value, leaf(rank, element));
        return value;
    }
    // Runs all nodes, in an order that `random` shuffles at each turn, until all are done; returns the turns taken.
    int run(std::mt19937& random, std::uint32_t sequence = 0) {
        std::vector<std::unique_ptr<NodeExchange>> exchanges;
        std::vector<std::vector<std::uint64_t>> scratch;
        for (int node = 0; node < size(); ++node) {
            const auto index = static_cast<std::size_t>(node);
            const AllreduceSchedule schedule(algorithm_, {size(), node, count_, 8, &ranks_});
            NodeExchange::Memory memory;
            memory.result = reinterpret_cast<std::byte*>(results_[index].data());
            scratch.emplace_back(schedule.scratch());
            scratch_ = std::max(scratch_, schedule.scratch());
            if (!elsewhere_[index].empty()) memory.own = reinterpret_cast<const std::byte*>(elsewhere_[index].data());
            memory.scratch = reinterpret_cast<std::byte*>(scratch.back().data());
            for (const auto& input : inputs_[index])
                memory.inputs.push_back(reinterpret_cast<const std::byte*>(input.data()));
            memory.element_bytes = sizeof(std::uint64_t);
            memory.fold = fold_expressions;
            exchanges.push_back(
                std::make_unique<NodeExchange>(nodes_.link(node), schedule, sequence, std::move(memory)));
        }
        std::vector<int> order(exchanges.size());
        std::iota(order.begin(), order.end(), 0);
        int turns = 0;
        // Each turn lets every node do what it can with what the others had done before, and a little of what they do
        // now.
        for (; !order.empty() && turns < 100; ++turns) {
            std::shuffle(order.begin(), order.end(), random);
            std::erase_if(order, [&](int node) {
                const Progress state = exchanges[static_cast<std::size_t>(node)]->progress();
                failed_ |= state == Progress::Failed;
                return state == Progress::Done || state == Progress::Failed;
            });
        }
        EXPECT_TRUE(order.empty()) << order.size() << " nodes never end";
        return turns;
    }
    void expect_the_plan_on_all_nodes() const {
        for (std::size_t i = 0; i < count_; ++i) {
            const std::uint64_t value = expected(i);
            for (int node = 0; node < size(); ++node)
                ASSERT_EQ(results_[static_cast<std::size_t>(node)][i], value) << "node " << node << ", element " << i;
            for (int node = 1; node < size(); node += 2)
                ASSERT_EQ(elsewhere_[static_cast<std::size_t>(node)][i], node_value(node, i)) << "it is only read";
        }
    }
    bool failed() const { return failed_; }
    std::size_t scratch() const { return scratch_; }

private:
    NodeAllreduce algorithm_;
    std::vector<std::vector<int>> ranks_;
    std::size_t count_;
    SimulatedNodes nodes_;
    static constexpr std::uint64_t poison = 0xdeadbeefdeadbeef;
    std::vector<std::vector<std::uint64_t>> results_;
    std::vector<std::vector<std::uint64_t>> elsewhere_;
    std::vector<std::vector<std::vector<std::uint64_t>>> inputs_;
    std::size_t scratch_ = 0;
    bool failed_ = false;
};

std::vector<std::vector<int>> one_rank_each(int nodes) {
    std::vector<std::vector<int>> ranks;
    for (int node = 0; node < nodes; ++node) ranks.push_back({node});
    return ranks;
}

// Ranks dealt to nodes at random, every node at least one: uneven and interleaved. Nodes are numbered by their first
// rank.
std::vector<std::vector<int>> dealt(int nodes, int ranks, std::mt19937& random) {
    std::vector<std::vector<int>> dealt(static_cast<std::size_t>(nodes));
    for (int rank = 0; rank < ranks; ++rank)
        dealt[rank < nodes ? static_cast<std::size_t>(rank) : random() % static_cast<unsigned>(nodes)].push_back(rank);
    return dealt;
}

void expect_well(Job& job, std::mt19937& random) {
    job.run(random);
    EXPECT_FALSE(job.failed());
    EXPECT_EQ(job.nodes().unmatched(), 0u);
    EXPECT_EQ(job.nodes().outstanding(), 0u);
    job.expect_the_plan_on_all_nodes();
}

}  // namespace

class AnyNumberOfNodes : public testing::TestWithParam<int> {};

TEST_P(AnyNumberOfNodes, EvaluatesTheSameTreeByEverySchedule) {
    const int nodes = GetParam();
    std::mt19937 random(static_cast<unsigned>(nodes));
    for (const NodeAllreduce algorithm : {NodeAllreduce::Doubling, NodeAllreduce::Halving, NodeAllreduce::Direct}) {
        if (algorithm == NodeAllreduce::Halving && !nodes_halving::takes(nodes)) continue;
        for (const std::size_t count : {1u, 7u, 8u, 9u, 100u, 1000u}) {
            SCOPED_TRACE(testing::Message()
                         << node_allreduce_names[static_cast<std::size_t>(algorithm)] << ", " << count);
            Job job(algorithm, one_rank_each(nodes), count);
            expect_well(job, random);
        }
    }
}

TEST_P(AnyNumberOfNodes, FoldsUnevenAndInterleavedRanksInTheirPlan) {
    const int nodes = GetParam();
    std::mt19937 random(static_cast<unsigned>(nodes) + 1000);
    for (const NodeAllreduce algorithm : {NodeAllreduce::Doubling, NodeAllreduce::Direct, NodeAllreduce::RankOrder}) {
        for (const std::size_t count : {3u, 260u}) {
            SCOPED_TRACE(testing::Message()
                         << node_allreduce_names[static_cast<std::size_t>(algorithm)] << ", " << count);
            Job job(algorithm, dealt(nodes, 3 * nodes + 1, random), count);
            expect_well(job, random);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Nodes, AnyNumberOfNodes,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 33, 64));

TEST(AllreduceBetweenNodes, SendsNoMoreThanTheOptimum) {
    for (const NodeAllreduce algorithm : {NodeAllreduce::Halving, NodeAllreduce::Direct}) {
        for (const int nodes : {2, 3, 4, 5, 8, 12, 16, 64}) {
            if (algorithm == NodeAllreduce::Halving && !nodes_halving::takes(nodes)) continue;
            // As many granules as nodes, so that every part is of the same size and the optimum a whole number.
            const std::size_t count = static_cast<std::size_t>(nodes) * 64;
            Job job(algorithm, one_rank_each(nodes), count);
            std::mt19937 random(1);
            job.run(random);
            const std::uint64_t optimum = 2 * count * sizeof(std::uint64_t) * static_cast<std::uint64_t>(nodes - 1) /
                                          static_cast<std::uint64_t>(nodes);
            for (int node = 0; node < nodes; ++node) {
                EXPECT_EQ(job.nodes().traffic(node).bytes_sent, optimum) << nodes << " nodes, node " << node;
                EXPECT_EQ(job.nodes().traffic(node).bytes_received, optimum) << nodes << " nodes, node " << node;
            }
        }
    }
}

TEST(AllreduceBetweenNodes, RankOrderSendsEachRanksSliceOnceToItsOwnerAndTheResultOnceToAll) {
    constexpr std::size_t count = 3 * 64;
    constexpr std::size_t slice = 64 * sizeof(std::uint64_t);
    Job job(NodeAllreduce::RankOrder, {{0, 3, 4}, {1}, {2, 5}}, count);
    std::mt19937 random(1);
    job.run(random);
    const std::uint64_t ranks[] = {3, 1, 2};
    for (int node = 0; node < 3; ++node)
        EXPECT_EQ(job.nodes().traffic(node).bytes_sent, (ranks[node] + 1) * 2 * slice) << "node " << node;
}

TEST(AllreduceBetweenNodes, TwoExchangesAtATimeDoNotMixTheirMessages) {
    std::mt19937 random(7);
    // A job that leaves off in the middle, with messages of sequence 0 in the air, and one of sequence 1.
    Job job(NodeAllreduce::Doubling, one_rank_each(5), 10);
    std::vector<std::uint64_t> stray(10, 1);
    NodeLink::Ticket ticket = nullptr;
    ASSERT_TRUE(job.nodes().link(0).send(1, {0, 0}, reinterpret_cast<const std::byte*>(stray.data()), 80, ticket));
    job.run(random, 1);
    job.expect_the_plan_on_all_nodes();
    EXPECT_EQ(job.nodes().unmatched(), 1u);
    job.nodes().link(0).abandon(1, ticket);
}

TEST(AllreduceBetweenNodes, ALostNodeFailsItsPartnersAndLeavesNothingOutstanding) {
    for (const NodeAllreduce algorithm : {NodeAllreduce::Doubling, NodeAllreduce::Direct}) {
        Job job(algorithm, one_rank_each(2), 100);
        job.nodes().lose(1);
        std::mt19937 random(3);
        job.run(random);
        EXPECT_TRUE(job.failed());
        EXPECT_EQ(job.nodes().outstanding(), 0u);
    }
}

// 2 to 2,048 nodes, of 8 ranks each at the largest. What stops growing and what does not: rounds grow with the
// logarithm, or not at all; bytes do not grow beyond 2n; the memory of a node stays below n; messages of a round grow
// with the nodes in `direct` alone.
TEST(AllreduceBetweenNodes, AtScale) {
    struct Size {
        NodeAllreduce algorithm;
        int nodes;
        int ranks_per_node;
        std::size_t count;
    };
    for (const Size size :
         {Size{NodeAllreduce::Doubling, 2048, 8, 1}, Size{NodeAllreduce::Doubling, 1500, 8, 1},
          Size{NodeAllreduce::Halving, 2048, 8, 2048 * 8}, Size{NodeAllreduce::Direct, 129, 8, 129 * 8},
          Size{NodeAllreduce::Direct, 512, 2, 512 * 8}}) {
        std::vector<std::vector<int>> ranks(static_cast<std::size_t>(size.nodes));
        for (int rank = 0; rank < size.nodes * size.ranks_per_node; ++rank)
            ranks[static_cast<std::size_t>(rank / size.ranks_per_node)].push_back(rank);
        Job job(size.algorithm, std::move(ranks), size.count);
        std::mt19937 random(5);
        const int turns = job.run(random);
        EXPECT_FALSE(job.failed());
        EXPECT_EQ(job.nodes().unmatched(), 0u);
        const std::uint64_t n = size.count * sizeof(std::uint64_t);
        const auto log = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(size.nodes)) - 1);
        std::uint64_t most_bytes = 0;
        std::uint64_t most_messages = 0;
        for (int node = 0; node < size.nodes; ++node) {
            most_bytes = std::max(most_bytes, job.nodes().traffic(node).bytes_sent);
            most_messages = std::max(most_messages, job.nodes().traffic(node).messages_sent);
        }
        std::printf(
            "%-8s %4d nodes %5d ranks: at most %6llu bytes of n=%6llu and %4llu messages sent by a node, %4zu "
            "elements of memory, %d turns\n",
            node_allreduce_names[static_cast<std::size_t>(size.algorithm)].data(), size.nodes,
            size.nodes * size.ranks_per_node, static_cast<unsigned long long>(most_bytes),
            static_cast<unsigned long long>(n), static_cast<unsigned long long>(most_messages), job.scratch(), turns);
        EXPECT_LE(job.scratch(), size.count);
        switch (size.algorithm) {
            case NodeAllreduce::Doubling:
                EXPECT_LE(most_bytes, n * (log + 2));
                EXPECT_LE(most_messages, log + 2);
                break;
            case NodeAllreduce::Halving:
                EXPECT_LT(most_bytes, 2 * n);
                EXPECT_EQ(most_messages, 2 * log);
                break;
            default:
                EXPECT_LT(most_bytes, 2 * n);
                EXPECT_EQ(most_messages, 2 * static_cast<std::uint64_t>(size.nodes - 1));
        }
        job.expect_the_plan_on_all_nodes();
    }
}

// The table of collectives/nodes/README.md: the schedules alone, without running them.
TEST(AllreduceBetweenNodes, CurvesOverTheNumberOfNodes) {
    struct Most {
        std::uint64_t messages = 0;
        std::uint64_t elements = 0;
        int rounds = 0;
    };
    const auto most_of = [](NodeAllreduce algorithm, int nodes, std::size_t count) {
        Most most;
        // Every node of the small jobs; of the large ones some, with the first and the last.
        const int stride = nodes > 600 ? 89 : 1;
        for (int node = 0; node < nodes;
             node = node + stride < nodes || node == nodes - 1 ? node + stride : nodes - 1) {
            const AllreduceSchedule schedule(algorithm, {nodes, node, count, 8, nullptr});
            Most mine;
            mine.rounds = schedule.rounds();
            for (int number = 0; number < schedule.rounds(); ++number) {
                for (const NodeMessage& message : schedule.round(number).sends) {
                    ++mine.messages;
                    mine.elements += message.range.count();
                }
            }
            most.messages = std::max(most.messages, mine.messages);
            most.elements = std::max(most.elements, mine.elements);
            most.rounds = mine.rounds;
        }
        return most;
    };
    for (const int nodes : {2, 4, 64, 512, 1500, 2048}) {
        const auto log = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(nodes)) - 1);
        const bool power = std::has_single_bit(static_cast<unsigned>(nodes));
        const auto others = static_cast<std::uint64_t>(nodes) - 1;
        const std::size_t count = static_cast<std::size_t>(nodes) * 8;
        const Most doubling = most_of(NodeAllreduce::Doubling, nodes, 1);
        EXPECT_EQ(doubling.rounds, static_cast<int>(power ? log : log + 2));
        EXPECT_EQ(doubling.elements, power ? log : log + 1);
        const Most direct = most_of(NodeAllreduce::Direct, nodes, count);
        EXPECT_EQ(direct.rounds, 2);
        EXPECT_EQ(direct.messages, 2 * others);
        EXPECT_EQ(direct.elements, 2 * 8 * others);
        std::printf("%4d nodes: doubling %2d rounds, %2llu elements; direct %4llu messages, %.2f n", nodes,
                    doubling.rounds, static_cast<unsigned long long>(doubling.elements),
                    static_cast<unsigned long long>(direct.messages),
                    static_cast<double>(direct.elements) / static_cast<double>(count));
        if (power) {
            const Most halving = most_of(NodeAllreduce::Halving, nodes, count);
            EXPECT_EQ(halving.messages, 2 * log);
            EXPECT_EQ(halving.elements, 2 * 8 * others);
            std::printf("; halving %2llu messages", static_cast<unsigned long long>(halving.messages));
        }
        std::printf("\n");
    }
}

}  // namespace peercoll::test
