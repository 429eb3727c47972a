// SPDX-License-Identifier: BSD-3-Clause
// Rules that a reader should find stated: NaN, zeros with signs, wrap-around, ties, rounding of the half types.
// Expected bits are written out.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "collectives/reduction/instruction_sets.hpp"
#include "tests/unit/reduction/half_reference.hpp"

namespace peercoll::test {
namespace {

// Folds one element per input on every instruction set, repeated over `kCopies` elements so that vector code and the
// remainder both see it; all must agree.
template <class T>
T fold_of(peercoll_op_t op, peercoll_datatype_t datatype, std::vector<T> in) {
    constexpr std::size_t kCopies = 67;
    EXPECT_EQ(datatype_size(datatype), sizeof(T));
    std::vector<std::vector<T>> inputs;
    std::vector<const void*> addresses;
    for (const T& value : in) {
        inputs.emplace_back(kCopies, value);
    }
    for (const auto& input : inputs) {
        addresses.push_back(input.data());
    }
    T first{};
    for (InstructionSet set : all_instruction_sets) {
        if (!instruction_set_available(set)) {
            continue;
        }
        std::vector<T> out(kCopies);
        find_fold_for(set, op, datatype)(out.data(), addresses.data(), in.size(), kCopies);
        if (set == InstructionSet::Baseline) {
            first = out[0];
        }
        for (std::size_t i = 0; i < kCopies; ++i) {
            EXPECT_EQ(std::memcmp(&out[i], &first, sizeof(T)), 0) << instruction_set_name(set) << ", element " << i;
        }
    }
    return first;
}

constexpr std::uint32_t kOneNan = 0x7fc00000;
constexpr std::uint32_t kOtherNan = 0xffc12345;
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kZero = 0;
constexpr std::uint32_t kMinusZero = 0x80000000;
constexpr std::uint32_t kOne = 0x3f800000;

std::uint32_t float_bits(peercoll_op_t op, std::vector<std::uint32_t> in) {
    return fold_of<std::uint32_t>(op, PEERCOLL_FLOAT32, std::move(in));
}

TEST(Nan, InASumOrProductIsAlwaysTheQuietOneWithoutSignAndPayload) {
    for (peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_PROD}) {
        EXPECT_EQ(float_bits(op, {kOtherNan, kOne}), kOneNan);
        EXPECT_EQ(float_bits(op, {kOne, kOtherNan}), kOneNan);
        EXPECT_EQ(float_bits(op, {kOtherNan, 0x7fc54321}), kOneNan);
        EXPECT_EQ(float_bits(op, {0x7f800001, kOne, kOne, kOne, kOne}), kOneNan) << "signalling";
    }
    EXPECT_EQ(float_bits(PEERCOLL_SUM, {kInfinity, kInfinity | kMinusZero}), kOneNan);
    EXPECT_EQ(float_bits(PEERCOLL_PROD, {kInfinity, kZero}), kOneNan);
}

TEST(Nan, OnEitherSideOfMinAndMaxGivesTheLaterInputBitForBit) {
    for (peercoll_op_t op : {PEERCOLL_MIN, PEERCOLL_MAX}) {
        EXPECT_EQ(float_bits(op, {kOtherNan, kOne}), kOne);
        EXPECT_EQ(float_bits(op, {kOne, kOtherNan}), kOtherNan);
        EXPECT_EQ(float_bits(op, {kOtherNan, 0x7fc54321}), 0x7fc54321u);
        EXPECT_EQ(float_bits(op, {kOne, kOtherNan, kInfinity}), kInfinity);
    }
}

TEST(ZerosOfDifferentSign, AreEqualForMinAndMaxSoTheLaterInputWins) {
    for (peercoll_op_t op : {PEERCOLL_MIN, PEERCOLL_MAX}) {
        EXPECT_EQ(float_bits(op, {kZero, kMinusZero}), kMinusZero);
        EXPECT_EQ(float_bits(op, {kMinusZero, kZero}), kZero);
    }
}

TEST(OneInput, IsCopiedBitForBitWhateverTheOperation) {
    EXPECT_EQ(float_bits(PEERCOLL_SUM, {kOtherNan}), kOtherNan);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16, {0xfe01}), 0xfe01);
    EXPECT_EQ(fold_of<std::uint8_t>(PEERCOLL_LAND, PEERCOLL_INT8, {5}), 5);
}

TEST(Integers, WrapAround) {
    EXPECT_EQ(fold_of<std::int8_t>(PEERCOLL_SUM, PEERCOLL_INT8, {127, 1}), -128);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_PROD, PEERCOLL_UINT16, {65535, 65535}), 1);
    EXPECT_EQ(fold_of<std::int32_t>(PEERCOLL_SUM, PEERCOLL_INT32, {std::numeric_limits<std::int32_t>::max(), 1}),
              std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(fold_of<std::int64_t>(PEERCOLL_PROD, PEERCOLL_INT64, {std::numeric_limits<std::int64_t>::min(), -1}),
              std::numeric_limits<std::int64_t>::min());
}

TEST(Logical, AnyNonzeroIsTrueAndTheResultIsZeroOrOne) {
    EXPECT_EQ(fold_of<std::uint32_t>(PEERCOLL_LAND, PEERCOLL_LOGICAL32, {0xffffffff, 0x01000000}), 1u);
    EXPECT_EQ(fold_of<std::uint32_t>(PEERCOLL_LXOR, PEERCOLL_LOGICAL32, {0xffffffff, 2}), 0u);
    EXPECT_EQ(fold_of<std::uint64_t>(PEERCOLL_LOR, PEERCOLL_UINT64, {0, std::uint64_t{1} << 63}), 1u);
}

struct FloatAndIndex {
    float value;
    std::int32_t index;
};

FloatAndIndex located(peercoll_op_t op, std::vector<FloatAndIndex> in) {
    return fold_of<FloatAndIndex>(op, PEERCOLL_PAIR_FLOAT32_INT32, std::move(in));
}

TEST(Pairs, TakeTheSmallerIndexOfEqualValues) {
    for (peercoll_op_t op : {PEERCOLL_MINLOC, PEERCOLL_MAXLOC}) {
        EXPECT_EQ(located(op, {{2, 7}, {2, 3}}).index, 3);
        EXPECT_EQ(located(op, {{2, 3}, {2, 7}}).index, 3);
        EXPECT_EQ(located(op, {{2, 3}, {2, -7}, {2, 0}}).index, -7);
        EXPECT_EQ(located(op, {{-0.0f, 3}, {0.0f, 7}}).index, 3) << "zeros of different sign are equal";
    }
    EXPECT_EQ(located(PEERCOLL_MINLOC, {{2, 3}, {1, 7}}).index, 7);
    EXPECT_EQ(located(PEERCOLL_MAXLOC, {{2, 3}, {1, 7}}).index, 3);
}

TEST(Pairs, WithANanGiveTheLaterInput) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (peercoll_op_t op : {PEERCOLL_MINLOC, PEERCOLL_MAXLOC}) {
        EXPECT_EQ(located(op, {{nan, 1}, {5, 2}}).index, 2);
        EXPECT_EQ(located(op, {{5, 1}, {nan, 2}}).index, 2);
    }
}

TEST(ComplexProduct, IsThePlainFormulaWithEveryStepRounded) {
    // (1 + e)^2 - 1 with e = 2^-12: the square rounds to 1 + 2e in float32; a fused step would keep e^2.
    const float e = 0x1p-12f;
    using Complex = std::array<float, 2>;
    const Complex result = fold_of<Complex>(PEERCOLL_PROD, PEERCOLL_COMPLEX_FLOAT32, {{1 + e, 1}, {1 + e, 1}});
    EXPECT_EQ(result[0], 2 * e);
    EXPECT_EQ(result[1], 2 + 2 * e);
}

TEST(Float16, IsRoundedOnceAfterAllInputs) {
    // 2048 + 1 + 1 = 2050 is a float16; rounding after each step would stay at 2048.
    EXPECT_EQ(half_value(kFloat16, fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16,
                                                          {nearest_half(kFloat16, 2048), nearest_half(kFloat16, 1),
                                                           nearest_half(kFloat16, 1)})),
              2050);
    // 2049 and 2051 lie in the middle: to the even neighbours.
    EXPECT_EQ(half_value(kFloat16, fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16,
                                                          {nearest_half(kFloat16, 2048), nearest_half(kFloat16, 1)})),
              2048);
    EXPECT_EQ(half_value(kFloat16, fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16,
                                                          {nearest_half(kFloat16, 2050), nearest_half(kFloat16, 1)})),
              2052);
    // 65504 is the largest; from 65520 on it is infinity.
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16, {0x7bff, nearest_half(kFloat16, 15)}), 0x7bff);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_FLOAT16, {0x7bff, nearest_half(kFloat16, 16)}), 0x7c00);
    // 2^-24 is the smallest; half of it goes to zero, three quarters go up.
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_PROD, PEERCOLL_FLOAT16, {1, nearest_half(kFloat16, 0.5)}), 0);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_PROD, PEERCOLL_FLOAT16, {1, nearest_half(kFloat16, 0.75)}), 1);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_PROD, PEERCOLL_FLOAT16, {3, nearest_half(kFloat16, 0.5)}), 2);
}

TEST(BFloat16, IsRoundedOnceAfterAllInputsToNearestEven) {
    const std::uint16_t at256 = nearest_half(kBFloat16, 256), one = nearest_half(kBFloat16, 1);
    const auto sum = [](std::vector<std::uint16_t> in) {
        return half_value(kBFloat16, fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_BFLOAT16, std::move(in)));
    };
    EXPECT_EQ(sum({at256, one, one}), 258);
    EXPECT_EQ(sum({at256, one}), 256);
    EXPECT_EQ(sum({nearest_half(kBFloat16, 258), one}), 260);
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_BFLOAT16, {0x7f7f, 0x7f7f}), 0x7f80) << "infinity";
    EXPECT_EQ(fold_of<std::uint16_t>(PEERCOLL_SUM, PEERCOLL_BFLOAT16, {0xffc1, one}), 0x7fc0) << "NaN";
}

// x * 1 is x, and x + 0 is x, for every one of the 65536 bit patterns that is a number.
TEST(HalfTypes, SurviveTheWayToFloat32AndBack) {
    struct Case {
        peercoll_datatype_t datatype;
        HalfFormat format;
    };
    for (const Case& c : {Case{PEERCOLL_FLOAT16, kFloat16}, Case{PEERCOLL_BFLOAT16, kBFloat16}}) {
        std::vector<std::uint16_t> all(65536), ones(65536, nearest_half(c.format, 1)), out(65536);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = static_cast<std::uint16_t>(i);
        }
        for (InstructionSet set : all_instruction_sets) {
            if (!instruction_set_available(set)) {
                continue;
            }
            const void* const in[] = {all.data(), ones.data()};
            find_fold_for(set, PEERCOLL_PROD, c.datatype)(out.data(), in, 2, all.size());
            for (std::size_t i = 0; i < all.size(); ++i) {
                const bool nan = std::isnan(half_value(c.format, all[i]));
                ASSERT_EQ(out[i], nan ? nearest_half(c.format, NAN) : all[i])
                    << std::hex << all[i] << " as " << datatype_name(c.datatype) << ", " << instruction_set_name(set);
            }
        }
    }
}

}  // namespace
}  // namespace peercoll::test
