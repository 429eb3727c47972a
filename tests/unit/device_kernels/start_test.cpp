// SPDX-License-Identifier: BSD-3-Clause
// How a fold is started: which kernel, which accesses, which grid, and what is refused.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "collectives/reduction/host_kernels.hpp"
#include "tests/unit/device_kernels/simulated_kernels.hpp"

namespace peercoll::test {
namespace {

const void* at(std::uint64_t address) {
    return reinterpret_cast<const void*>(address);
}
void* out_at(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

FoldParameters filled(const FoldCase& fold) {
    FoldParameters parameters;
    EXPECT_TRUE(fill(fold, parameters));
    return parameters;
}

FoldCase float_sum(std::uint64_t count, std::vector<const void*> inputs, std::vector<void*> outputs) {
    return {PEERCOLL_SUM, PEERCOLL_FLOAT32, count, std::move(inputs), std::move(outputs)};
}

bool is_wide(peercoll_datatype_t datatype) {
    const std::string name = datatype_name(datatype) ? datatype_name(datatype) : "";
    return name.find("float80") != std::string::npos || name.find("float128") != std::string::npos;
}

TEST(KernelNames, AreThereForAllThatTheCInterfaceSupportsButTheWideFloats) {
    for (peercoll_op_t op = PEERCOLL_OP_NONE; op <= PEERCOLL_OP_END; ++op) {
        for (peercoll_datatype_t type = PEERCOLL_DATATYPE_NONE; type <= PEERCOLL_DATATYPE_END; ++type) {
            const bool expected = op_supports(op, type) && !is_wide(type);
            const char* const name = fold_kernel_name(type, op);
            ASSERT_EQ(name != nullptr, expected) << "operation " << op << ", datatype " << type;
            if (expected) {
                EXPECT_TRUE(has_kernel(name)) << name;
                EXPECT_GE(fold_kernel_family(type, op), 0);
                EXPECT_LT(fold_kernel_family(type, op), fold_kernel_families);
            } else {
                EXPECT_EQ(fold_kernel_family(type, op), -1);
            }
        }
    }
}

TEST(KernelNames, AreListedOnceEachWithAllOfThemBuilt) {
    std::set<std::string> names;
    std::set<int> families;
    std::size_t index = 0;
    for (; fold_kernel_name_at(index); ++index) {
        EXPECT_TRUE(names.insert(fold_kernel_name_at(index)).second) << fold_kernel_name_at(index);
        EXPECT_TRUE(has_kernel(fold_kernel_name_at(index))) << fold_kernel_name_at(index);
        families.insert(fold_kernel_family_at(index));
    }
    EXPECT_EQ(fold_kernel_family_at(index), -1);
    EXPECT_EQ(families.size(), static_cast<std::size_t>(fold_kernel_families));
    EXPECT_FALSE(has_kernel("peercoll_fold_float80_sum"));
}

TEST(Accesses, AreVectorsWhereAllAddressesAreEquallyFarFromAMultipleOf16) {
    const FoldParameters p = filled(float_sum(100, {at(0x1004), at(0x2014)}, {out_at(0x3004)}));
    EXPECT_EQ(p.width, 16u);
    EXPECT_EQ(p.head, 3u);
    EXPECT_EQ(p.steps, (100u - 3u) / 4);
}

TEST(Accesses, AreElementsWhereAddressesDiffer) {
    const FoldParameters p = filled(float_sum(100, {at(0x1004), at(0x2008)}, {out_at(0x3000)}));
    EXPECT_EQ(p.width, 4u);
    EXPECT_EQ(p.head, 0u);
    EXPECT_EQ(p.steps, 100u);
}

TEST(Accesses, AreBytesWhereAnElementIsMisaligned) {
    EXPECT_EQ(filled(float_sum(100, {at(0x1001), at(0x2001)}, {out_at(0x3001)})).width, 1u);
    EXPECT_EQ(filled(float_sum(100, {at(0x1000), at(0x2000)}, {out_at(0x3002)})).width, 1u);
}

TEST(Accesses, OfLargeElementsArePartsWhereOnlyThoseAreAligned) {
    const FoldParameters p =
        filled({PEERCOLL_SUM, PEERCOLL_COMPLEX_FLOAT64, 10, {at(0x1008), at(0x2008)}, {out_at(0x3008)}});
    EXPECT_EQ(p.width, 8u);
    EXPECT_EQ(p.steps, 10u);
}

TEST(Accesses, OfACopyAreAsWideAsTheAddressesDifferByAMultipleOf) {
    const auto copy = [](std::uint64_t from, std::uint64_t to) {
        return filled({PEERCOLL_NO_OP, PEERCOLL_BYTE, 1000, {at(from)}, {out_at(to)}});
    };
    EXPECT_EQ(copy(0x1003, 0x2003).width, 16u);
    EXPECT_EQ(copy(0x1003, 0x2003).head, 13u);
    EXPECT_EQ(copy(0x1003, 0x200b).width, 8u);
    EXPECT_EQ(copy(0x1003, 0x200b).head, 5u);
    EXPECT_EQ(copy(0x1003, 0x2007).width, 4u);
    EXPECT_EQ(copy(0x1003, 0x2005).width, 2u);
    EXPECT_EQ(copy(0x1003, 0x2004).width, 1u);
}

TEST(Accesses, CoverNoMoreThanThereIs) {
    const FoldParameters p = filled(float_sum(2, {at(0x1004), at(0x2004)}, {out_at(0x3004)}));
    EXPECT_EQ(p.head, 2u);
    EXPECT_EQ(p.steps, 0u);
}

TEST(Accesses, OfMoreThan4GiBAreCountedIn64Bits) {
    const std::uint64_t count = std::uint64_t{1} << 40;
    EXPECT_EQ(filled(float_sum(count, {at(0x1000), at(0x2000)}, {out_at(0x3000)})).steps, count / 4);
}

TEST(ACopy, TakesTheFirstOrTheLastInputAndSkipsOutputsThatAreIt) {
    const std::vector<const void*> inputs = {at(0x1000), at(0x2000), at(0x3000)};
    const std::vector<void*> outputs = {out_at(0x1000), out_at(0x2000), out_at(0x3000)};
    const FoldParameters first = filled({PEERCOLL_NO_OP, PEERCOLL_FLOAT64, 5, inputs, outputs});
    ASSERT_EQ(first.n_inputs, 1u);
    EXPECT_EQ(first.inputs[0], 0x1000u);
    EXPECT_EQ(first.count, 40u) << "bytes";
    ASSERT_EQ(first.n_outputs, 2u);
    EXPECT_EQ(first.outputs[0], 0x2000u);
    EXPECT_EQ(first.outputs[1], 0x3000u);
    EXPECT_EQ(filled({PEERCOLL_REPLACE, PEERCOLL_FLOAT64, 5, inputs, outputs}).inputs[0], 0x3000u);

    const FoldParameters nothing = filled({PEERCOLL_NO_OP, PEERCOLL_BYTE, 5, {at(0x1000)}, {out_at(0x1000)}});
    EXPECT_EQ(nothing.n_outputs, 0u);
    EXPECT_EQ(nothing.count, 0u);
}

TEST(Blocks, AreMarkedAtTheInputTheyBeginWith) {
    FoldCase fold = float_sum(1, std::vector<const void*>(64, at(0x1000)), {out_at(0x2000)});
    fold.block_ends = {1, 3, 63, 64};
    EXPECT_EQ(filled(fold).block_starts, 1u | 1u << 1 | 1u << 3 | std::uint64_t{1} << 63);
}

TEST(WhatIsNoFold, IsRefused) {
    FoldParameters p;
    const FoldCase good = float_sum(1, {at(0x1000), at(0x2000)}, {out_at(0x3000)});
    EXPECT_TRUE(fill(good, p));
    FoldCase fold = good;
    fold.outputs.clear();
    EXPECT_FALSE(fill(fold, p)) << "no output";
    fold = good;
    fold.inputs.assign(65, at(0x1000));
    EXPECT_FALSE(fill(fold, p)) << "more inputs than there may be";
    for (const std::vector<std::uint32_t>& ends :
         {std::vector<std::uint32_t>{1}, {3}, {1, 1, 2}, {2, 1}, {0, 2}, {1, 2, 2}}) {
        fold = good;
        fold.block_ends = ends;
        EXPECT_FALSE(fill(fold, p)) << "blocks that do not cut the inputs, the first ends at " << ends[0];
    }
    fold = good;
    fold.datatype = PEERCOLL_FLOAT128;
    EXPECT_FALSE(fill(fold, p)) << "no kernel";
    fold = good;
    fold.op = PEERCOLL_BAND;
    EXPECT_FALSE(fill(fold, p)) << "an operation that floats do not have";
}

FoldParameters sum_of_bytes(std::uint64_t bytes) {
    return filled(float_sum(bytes / 4, {at(0x10000), at(0x20000)}, {out_at(0x30000)}));
}

TEST(TheGrid, IsOneBlockForAFewKiBAndThenFillsTheDevice) {
    const auto geometry = [](std::uint64_t bytes) {
        FoldParameters p = sum_of_bytes(bytes);
        return fold_geometry(p, 132, false);
    };
    EXPECT_EQ(geometry(0).blocks, 1u);
    EXPECT_EQ(geometry(0).threads, 32u);
    EXPECT_EQ(geometry(8).threads, 32u);
    EXPECT_EQ(geometry(2048).threads, 128u);
    EXPECT_EQ(geometry(8 * 1024).blocks, 1u);
    EXPECT_EQ(geometry(8 * 1024).threads, FoldParameters::most_threads);
    EXPECT_EQ(geometry(64 * 1024).blocks, 64u) << "one vector for each thread, in small blocks on many multiprocessors";
    EXPECT_EQ(geometry(64 * 1024).threads, 64u);
    EXPECT_EQ(geometry(1024 * 1024).threads, FoldParameters::most_threads);
    for (std::uint64_t bytes = 1; bytes < (std::uint64_t{1} << 41); bytes *= 3) {
        EXPECT_EQ(geometry(bytes).threads % 32, 0u);
        EXPECT_GE(geometry(bytes).blocks, 1u);
    }
}

TEST(TheGrid, HasATileForEachStepOfEverySizeAndSoManyStreams) {
    for (const std::size_t ranks : {std::size_t{2}, std::size_t{3}, std::size_t{8}}) {
        const std::vector<const void*> inputs(ranks, at(0x10000));
        const std::vector<void*> outputs(ranks, out_at(0x10000));
        for (std::uint64_t bytes = 16; bytes < (std::uint64_t{1} << 41); bytes *= 3) {
            FoldParameters p = filled(float_sum(bytes / 4, inputs, outputs));
            const FoldGeometry geometry = fold_geometry(p, 132, false);
            ASSERT_GT(p.tile, 0u);
            EXPECT_GE(p.tile, geometry.threads) << "no thread of a block without work";
            // Blocks that stay go on; no block is there without a tile.
            EXPECT_LE((geometry.blocks - 1) * p.tile, p.steps);
        }
    }
}

TEST(TheGrid, OfALargeFoldHasBlocksThatComeAndGoWherePagesAreLarge) {
    constexpr unsigned large_pages = 21;
    FoldParameters large = sum_of_bytes(std::uint64_t{256} << 20);
    EXPECT_TRUE(passes_once(large, large_pages));
    EXPECT_FALSE(passes_once(large, large_pages - 1)) << "small pages";
    EXPECT_FALSE(passes_once(sum_of_bytes(64 * 1024), large_pages)) << "small";
    EXPECT_EQ(fold_geometry(large, 132, true).blocks, (std::uint64_t{256} << 20) / 16 / FoldParameters::most_threads);
    EXPECT_EQ(fold_geometry(large, 132, false).blocks, 132u * FoldParameters::blocks_per_multiprocessor);
    FoldParameters many = filled(float_sum(std::uint64_t{64} << 20, std::vector<const void*>(8, at(0x10000)),
                                           std::vector<void*>(8, out_at(0x30000))));
    EXPECT_EQ(fold_geometry(many, 132, false).blocks, 2u * 132u);
}

TEST(TheFlag, IsWrittenOnceAllIsDoneWithOneBlockAndWithMany) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 16}) {
        const std::vector<float> ones(count + 1, 1.0f);
        std::vector<float> out(count + 1);
        std::uint64_t flag = 0;
        FoldCase fold = float_sum(count, {ones.data(), ones.data()}, {out.data()});
        fold.flag = &flag;
        fold.flag_value = 0x0123456789abcdef;
        const FoldGeometry geometry = run(fold, 4);
        EXPECT_EQ(geometry.blocks > 1, count > 1000);
        EXPECT_EQ(flag, fold.flag_value);
        EXPECT_EQ(std::vector<float>(out.begin(), out.end() - 1), std::vector<float>(count, 2.0f));
    }
}

}  // namespace
}  // namespace peercoll::test
