// SPDX-License-Identifier: BSD-3-Clause
// The tables of datatypes and operations against tables written by hand from the MPI standard (5.9.2 of MPI 3.1) and
// the C ABI.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/instruction_sets.hpp"
#include "collectives/reduction/wide_float_types.hpp"

namespace peercoll {
namespace {

struct Row {
    peercoll_datatype_t datatype;
    const char* name;
    std::size_t bytes;
    // One character for each of sum prod min max land lor lxor band bor bxor minloc maxloc replace no_op.
    const char* ops;
};

constexpr Row kRows[] = {
    {PEERCOLL_INT8, "int8", 1, "yyyyyyyyyynnyy"},
    {PEERCOLL_UINT8, "uint8", 1, "yyyyyyyyyynnyy"},
    {PEERCOLL_INT16, "int16", 2, "yyyyyyyyyynnyy"},
    {PEERCOLL_UINT16, "uint16", 2, "yyyyyyyyyynnyy"},
    {PEERCOLL_INT32, "int32", 4, "yyyyyyyyyynnyy"},
    {PEERCOLL_UINT32, "uint32", 4, "yyyyyyyyyynnyy"},
    {PEERCOLL_INT64, "int64", 8, "yyyyyyyyyynnyy"},
    {PEERCOLL_UINT64, "uint64", 8, "yyyyyyyyyynnyy"},
    {PEERCOLL_BYTE, "byte", 1, "nnnnnnnyyynnyy"},
    {PEERCOLL_FLOAT16, "float16", 2, "yyyynnnnnnnnyy"},
    {PEERCOLL_BFLOAT16, "bfloat16", 2, "yyyynnnnnnnnyy"},
    {PEERCOLL_FLOAT32, "float32", 4, "yyyynnnnnnnnyy"},
    {PEERCOLL_FLOAT64, "float64", 8, "yyyynnnnnnnnyy"},
    {PEERCOLL_FLOAT80, "float80", 16, "yyyynnnnnnnnyy"},
    {PEERCOLL_FLOAT128, "float128", 16, "yyyynnnnnnnnyy"},
    {PEERCOLL_COMPLEX_FLOAT32, "complex_float32", 8, "yynnnnnnnnnnyy"},
    {PEERCOLL_COMPLEX_FLOAT64, "complex_float64", 16, "yynnnnnnnnnnyy"},
    {PEERCOLL_COMPLEX_FLOAT80, "complex_float80", 32, "yynnnnnnnnnnyy"},
    {PEERCOLL_COMPLEX_FLOAT128, "complex_float128", 32, "yynnnnnnnnnnyy"},
    {PEERCOLL_BOOL, "bool", 1, "nnnnyyynnnnnyy"},
    {PEERCOLL_LOGICAL8, "logical8", 1, "nnnnyyynnnnnyy"},
    {PEERCOLL_LOGICAL16, "logical16", 2, "nnnnyyynnnnnyy"},
    {PEERCOLL_LOGICAL32, "logical32", 4, "nnnnyyynnnnnyy"},
    {PEERCOLL_LOGICAL64, "logical64", 8, "nnnnyyynnnnnyy"},
    {PEERCOLL_PAIR_FLOAT32_INT32, "pair_float32_int32", 8, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_FLOAT64_INT32, "pair_float64_int32", 16, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_INT64_INT32, "pair_int64_int32", 16, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_INT32_INT32, "pair_int32_int32", 8, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_INT16_INT32, "pair_int16_int32", 8, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_FLOAT80_INT32, "pair_float80_int32", 32, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_FLOAT32_FLOAT32, "pair_float32_float32", 8, "nnnnnnnnnnyyyy"},
    {PEERCOLL_PAIR_FLOAT64_FLOAT64, "pair_float64_float64", 16, "nnnnnnnnnnyyyy"},
};
static_assert(std::size(kRows) == PEERCOLL_DATATYPE_END - 1);

bool this_machine_lacks(const Row& row) {
    const std::string name = row.name;
    return (!has_float80 && name.find("float80") != std::string::npos) ||
           (!has_float128 && name.find("float128") != std::string::npos);
}

TEST(Datatypes, HaveTheNamesAndSizesOfTheTable) {
    for (const Row& row : kRows) {
        if (this_machine_lacks(row)) {
            EXPECT_EQ(datatype_size(row.datatype), 0u) << row.name;
            EXPECT_EQ(datatype_name(row.datatype), nullptr) << row.name;
        } else {
            EXPECT_EQ(datatype_size(row.datatype), row.bytes) << row.name;
            EXPECT_STREQ(datatype_name(row.datatype), row.name);
        }
    }
}

TEST(Datatypes, OfPairsAreAsLargeAsTheCStructs) {
    struct FloatInt {
        float value;
        int index;
    };
    struct DoubleInt {
        double value;
        int index;
    };
    struct LongInt {
        long value;
        int index;
    };
    struct ShortInt {
        short value;
        int index;
    };
    struct LongDoubleInt {
        long double value;
        int index;
    };
    EXPECT_EQ(datatype_size(PEERCOLL_PAIR_FLOAT32_INT32), sizeof(FloatInt));
    EXPECT_EQ(datatype_size(PEERCOLL_PAIR_FLOAT64_INT32), sizeof(DoubleInt));
    EXPECT_EQ(datatype_size(PEERCOLL_PAIR_INT64_INT32), sizeof(LongInt));
    EXPECT_EQ(datatype_size(PEERCOLL_PAIR_INT16_INT32), sizeof(ShortInt));
    if (has_float80) {
        EXPECT_EQ(datatype_size(PEERCOLL_PAIR_FLOAT80_INT32), sizeof(LongDoubleInt));
    }
}

TEST(Operations, TakeTheDatatypesOfTheTableAndHaveAKernelForExactlyThose) {
    for (const Row& row : kRows) {
        ASSERT_EQ(std::strlen(row.ops), static_cast<std::size_t>(PEERCOLL_OP_END - 1));
        for (peercoll_op_t op = PEERCOLL_OP_NONE + 1; op < PEERCOLL_OP_END; ++op) {
            const bool valid = row.ops[op - 1] == 'y' && !this_machine_lacks(row);
            EXPECT_EQ(op_supports(op, row.datatype), valid) << op_name(op) << " of " << row.name;
            EXPECT_EQ(find_fold(op, row.datatype) != nullptr, valid) << op_name(op) << " of " << row.name;
            for (InstructionSet set : all_instruction_sets) {
                EXPECT_EQ(find_fold_for(set, op, row.datatype) != nullptr, valid && instruction_set_available(set))
                    << op_name(op) << " of " << row.name << " for " << instruction_set_name(set);
            }
        }
    }
}

TEST(Operations, HaveNamesAndAllButReplaceAndNoOpCommute) {
    const char* const names[] = {"sum",  "prod", "min",  "max",    "land",   "lor",     "lxor",
                                 "band", "bor",  "bxor", "minloc", "maxloc", "replace", "no_op"};
    for (peercoll_op_t op = PEERCOLL_OP_NONE + 1; op < PEERCOLL_OP_END; ++op) {
        EXPECT_STREQ(op_name(op), names[op - 1]);
        EXPECT_EQ(op_is_commutative(op), op != PEERCOLL_REPLACE && op != PEERCOLL_NO_OP) << op_name(op);
    }
}

TEST(ValuesThatAreNoDatatypeOrOperation, AreAnsweredAsSuch) {
    constexpr std::int32_t kWrong[] = {
        0, -1, 33, 15 + 33, 1000, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    for (std::int32_t wrong : kWrong) {
        EXPECT_EQ(datatype_size(wrong), 0u) << wrong;
        EXPECT_EQ(datatype_name(wrong), nullptr) << wrong;
        EXPECT_EQ(op_name(wrong), nullptr) << wrong;
        EXPECT_FALSE(op_is_commutative(wrong)) << wrong;
        EXPECT_FALSE(op_supports(PEERCOLL_NO_OP, wrong)) << wrong;
        EXPECT_FALSE(op_supports(wrong, PEERCOLL_INT32)) << wrong;
        EXPECT_EQ(find_fold(PEERCOLL_NO_OP, wrong), nullptr) << wrong;
        EXPECT_EQ(find_fold(wrong, PEERCOLL_INT32), nullptr) << wrong;
    }
    EXPECT_EQ(op_name(PEERCOLL_OP_END), nullptr);
    EXPECT_EQ(find_fold(PEERCOLL_OP_END, PEERCOLL_INT32), nullptr);
}

TEST(InstructionSet, InUseIsTheLastAvailableOne) {
    const char* expected = nullptr;
    for (InstructionSet set : all_instruction_sets) {
        expected = instruction_set_available(set) ? instruction_set_name(set) : expected;
    }
    EXPECT_STREQ(host_kernel_instruction_set(), expected);
}

}  // namespace
}  // namespace peercoll
