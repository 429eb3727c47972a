// SPDX-License-Identifier: BSD-3-Clause
// The plan against its definition, evaluated one element at a time.
#include "collectives/reduction/plan.hpp"

#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace peercoll {
namespace {

using Blocks = std::vector<std::vector<int>>;
using test::random_seed;
using test::seed_text;

// Ranks 0 ... ranks-1, shuffled or not, cut into up to `most` blocks.
Blocks random_blocks(int ranks, std::size_t most, bool shuffled, std::mt19937_64& random) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    if (shuffled) std::shuffle(order.begin(), order.end(), random);
    Blocks blocks(1);
    for (const int rank : order) {
        if (!blocks.back().empty() && blocks.size() < most && random() % 4 == 0) blocks.emplace_back();
        blocks.back().push_back(rank);
    }
    return blocks;
}

// Exponents far apart, so that every other order of the sum has other bits.
std::vector<std::vector<float>> sensitive_inputs(int ranks, std::size_t count, std::mt19937_64& random) {
    std::vector<std::vector<float>> inputs(static_cast<std::size_t>(ranks), std::vector<float>(count));
    for (auto& input : inputs)
        for (float& value : input)
            value = std::ldexp(static_cast<float>(random() >> 40) - 8388608.0F, static_cast<int>(random() % 30) - 15);
    return inputs;
}

float by_definition(const Blocks& blocks, const std::vector<std::vector<float>>& inputs, std::size_t element) {
    float total = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        float partial = 0;
        for (std::size_t i = 0; i < blocks[b].size(); ++i) {
            const float value = inputs[static_cast<std::size_t>(blocks[b][i])][element];
            partial = i == 0 ? value : partial + value;
        }
        total = b == 0 ? partial : total + partial;
    }
    return total;
}

std::vector<float> by_definition(const Blocks& blocks, const std::vector<std::vector<float>>& inputs) {
    std::vector<float> expected(inputs.front().size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = by_definition(blocks, inputs, i);
    return expected;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Evaluates into `out`, which may be one of the inputs.
void evaluate(const Blocks& blocks, const std::vector<std::vector<float>>& inputs, std::vector<float>& out) {
    std::vector<const void*> addresses;
    for (const auto& input : inputs) addresses.push_back(input.data());
    ReductionPlan(blocks).evaluate(find_fold(PEERCOLL_SUM, PEERCOLL_FLOAT32), sizeof(float), out.data(),
                                   addresses.data(), out.size());
}

// Below, at and beyond the piece that is evaluated at a time, 4096 bytes.
constexpr std::size_t counts[] = {1, 2, 15, 16, 17, 1023, 1024, 1025, 2047, 2048, 2049, 5000};

TEST(ReductionPlan, GivesTheBitsOfItsDefinitionForAnyBlocks) {
    const std::uint64_t seed = random_seed();
    std::mt19937_64 random(seed);
    for (int ranks = 1; ranks <= 40; ++ranks)
        for (const bool shuffled : {false, true})
            for (const std::size_t most : {1, 2, 5, 17, 40}) {
                const Blocks blocks = random_blocks(ranks, most, shuffled, random);
                const std::size_t count = counts[random() % std::size(counts)];
                const auto inputs = sensitive_inputs(ranks, count, random);
                std::vector<float> out(count);
                evaluate(blocks, inputs, out);
                ASSERT_TRUE(same_bits(out, by_definition(blocks, inputs)))
                    << ranks << " ranks, " << blocks.size() << " blocks, " << count << " elements; " << seed_text(seed);
            }
}

TEST(ReductionPlan, GivesTheSameBitsForEveryCount) {
    std::mt19937_64 random(1);
    const Blocks blocks{{0, 2}, {1, 3, 4}};
    for (const std::size_t count : counts) {
        const auto inputs = sensitive_inputs(5, count, random);
        std::vector<float> out(count);
        evaluate(blocks, inputs, out);
        EXPECT_TRUE(same_bits(out, by_definition(blocks, inputs))) << count;
    }
}

TEST(ReductionPlan, CanWriteOverAnyOfItsInputs) {
    const std::uint64_t seed = random_seed();
    std::mt19937_64 random(seed);
    for (const int ranks : {1, 2, 3, 7, 20})
        for (const std::size_t most : {1, 3, 20})
            for (int over = 0; over < ranks; ++over) {
                const Blocks blocks = random_blocks(ranks, most, over % 2 == 1, random);
                auto inputs = sensitive_inputs(ranks, 2500, random);
                const std::vector<float> expected = by_definition(blocks, inputs);
                auto& out = inputs[static_cast<std::size_t>(over)];
                evaluate(blocks, inputs, out);
                ASSERT_TRUE(same_bits(out, expected))
                    << "over input " << over << " of " << ranks << "; " << seed_text(seed);
            }
}

TEST(ReductionPlan, OfOneBlockIsTheFoldInThatOrder) {
    std::mt19937_64 random(2);
    const auto inputs = sensitive_inputs(6, 1500, random);
    std::vector<float> out(1500);
    for (const Blocks& blocks : {Blocks{{0, 1, 2, 3, 4, 5}}, Blocks{{5, 1, 0, 2, 4, 3}}}) {
        evaluate(blocks, inputs, out);
        EXPECT_TRUE(same_bits(out, by_definition(blocks, inputs)));
    }
}

// Otherwise the comparisons above would prove nothing.
TEST(ReductionPlan, OfTheseInputsHasOtherBitsForOtherBlocks) {
    std::mt19937_64 random(3);
    const auto inputs = sensitive_inputs(6, 200, random);
    const std::vector<float> flat = by_definition({{0, 1, 2, 3, 4, 5}}, inputs);
    EXPECT_FALSE(same_bits(flat, by_definition({{0, 1, 2}, {3, 4, 5}}, inputs)));
    EXPECT_FALSE(same_bits(flat, by_definition({{0, 1, 2, 3, 5, 4}}, inputs)));
}

TEST(ReductionPlan, TakesTheLastRanksValueWhereTheOperationIsReplace) {
    const FoldFunction replace = find_fold(PEERCOLL_REPLACE, PEERCOLL_PAIR_FLOAT80_INT32);
    const std::size_t element = datatype_size(PEERCOLL_PAIR_FLOAT80_INT32);
    constexpr std::size_t count = 300;
    std::vector<std::vector<unsigned char>> inputs;
    std::vector<const void*> addresses;
    for (unsigned char rank = 0; rank < 5; ++rank) inputs.emplace_back(count * element, rank);
    for (const auto& input : inputs) addresses.push_back(input.data());
    std::vector<unsigned char> out(count * element, 99);
    ReductionPlan({{0, 1, 2}, {3, 4}}).evaluate(replace, element, out.data(), addresses.data(), count);
    EXPECT_EQ(out, inputs.back());
}

TEST(ReductionPlan, KnowsWhetherItKeepsTheOrderOfTheRanks) {
    struct Expected {
        Blocks blocks;
        bool keeps_order, flat;
    };
    for (const Expected& expected : {Expected{{{0, 1, 2, 3}}, true, true},
                                     {{{0, 1}, {2, 3}}, true, false},
                                     {{{0}, {1}, {2}}, true, false},
                                     {{{0, 2}, {1, 3}}, false, false},
                                     {{{1, 0}}, false, false}}) {
        const ReductionPlan plan(expected.blocks);
        EXPECT_EQ(plan.keeps_rank_order(), expected.keeps_order);
        EXPECT_EQ(plan.is_flat(), expected.flat);
        EXPECT_EQ(plan.blocks(), expected.blocks);
    }
    EXPECT_TRUE(ReductionPlan::in_rank_order(40).is_flat());
    EXPECT_EQ(ReductionPlan::in_rank_order(3).blocks(), (Blocks{{0, 1, 2}}));
}

}  // namespace
}  // namespace peercoll
