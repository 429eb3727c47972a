// SPDX-License-Identifier: BSD-3-Clause
// Cutting messages: into chunks one after the other, and into slices one for each rank.
#include "collectives/host/chunks.hpp"
#include "collectives/host/slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace peercoll {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t most_memory = std::size_t{1} << 47;  // what a process can address

// Around everything that could be a boundary, and far beyond 4 GiB: nothing is allocated.
std::vector<std::size_t> counts_for(std::size_t element_bytes) {
    std::vector<std::size_t> counts;
    for (std::size_t count = 1; count <= 300; ++count) counts.push_back(count);
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{1} << 20, (std::size_t{4} << 30) + 5 * line,
                                    std::size_t{1} << 40, most_memory})
        for (const int beside : {-1, 0, 1}) counts.push_back(bytes / element_bytes + static_cast<std::size_t>(beside));
    return counts;
}

TEST(Chunks, CoverTheMessageExactlyInWholeCacheLines) {
    for (std::size_t element = 1; element <= 32; ++element)
        for (const std::size_t limit : {512, 1024, 4096, 65536, 1 << 20}) {
            const std::size_t least = line_granule(element) * element;  // cannot be cut further
            for (const std::size_t count : counts_for(element)) {
                const Chunks chunks(count, element, limit);
                const std::uint64_t size = chunks.size();
                ASSERT_GT(size, 0U);
                ASSERT_EQ(chunks[0].begin, 0U);
                ASSERT_EQ(chunks[size - 1].end, count);
                // All of a short message, both ends of a long one.
                for (std::uint64_t i = 0; i < size; i = i == 500 && size > 1000 ? size - 500 : i + 1) {
                    const Slice chunk = chunks[i];
                    ASSERT_GT(chunk.count(), 0U) << "chunk " << i << " of " << count << " x " << element;
                    ASSERT_LE(chunk.count() * element, std::max(limit, least));
                    ASSERT_EQ(chunk.begin * element % line, 0U);
                    ASSERT_EQ(chunk.begin, i == 0 ? 0 : chunks[i - 1].end);
                    ASSERT_EQ(chunk.count(), i + 1 < size ? chunks[0].count() : count - chunk.begin);
                }
            }
        }
}

TEST(Chunks, AreAsFewAsTheLimitAllows) {
    EXPECT_EQ(Chunks(1024, 1, 1024).size(), 1U);
    EXPECT_EQ(Chunks(1025, 1, 1024).size(), 2U);
    EXPECT_EQ(Chunks(256, 8, 1024).size(), 2U);
    EXPECT_EQ(Chunks((std::size_t{5} << 30) / 4, 4, 1 << 20).size(), 5U * 1024);
}

TEST(Chunks, OfAlmostOneLimitAreBalanced) {
    const Chunks chunks(1025, 1, 1024);
    EXPECT_EQ(chunks[0].count(), 576U) << "half of it, up to a whole cache line";
    EXPECT_EQ(chunks[1].count(), 449U);
}

TEST(Chunks, OfNothingAreNone) {
    EXPECT_EQ(Chunks(0, 4, 1024).size(), 0U);
    EXPECT_EQ(Chunks().size(), 0U);
}

TEST(Slices, CoverTheMessageExactlyAndShareNoCacheLine) {
    for (std::size_t element = 1; element <= 32; ++element)
        for (const std::size_t ranks : {1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 256})
            for (const std::size_t count : counts_for(element)) {
                std::size_t end = 0;
                for (std::size_t rank = 0; rank < ranks; ++rank) {
                    const Slice slice = slice_of(count, ranks, rank, line_granule(element));
                    ASSERT_EQ(slice.begin, end) << "rank " << rank << " of " << ranks << ", " << count << " elements";
                    ASSERT_GE(slice.end, slice.begin);
                    ASSERT_TRUE(slice.count() == 0 || slice.begin * element % line == 0);
                    end = slice.end;
                }
                ASSERT_EQ(end, count);
            }
}

TEST(Slices, DifferByOneGranuleAtMost) {
    for (const std::size_t element : {1, 2, 4, 8, 12, 16, 32})
        for (const std::size_t ranks : {2, 3, 5, 8, 17})
            for (const std::size_t count : counts_for(element)) {
                const std::size_t granule = line_granule(element);
                const std::size_t even = count / ranks;
                for (std::size_t rank = 0; rank < ranks; ++rank) {
                    const std::size_t have = slice_of(count, ranks, rank, granule).count();
                    ASSERT_LE(have, even + granule + 1) << count << " elements, " << ranks << " ranks";
                    ASSERT_GE(have + 2 * granule, even);
                }
            }
}

TEST(Slices, LeaveTheLastPartsEmptyWhereThereAreFewerGranulesThanParts) {
    for (const std::size_t lines : {1, 2, 7, 15, 16, 17}) {
        const Slices slices(lines * 16 - 3, 16, 16);
        EXPECT_EQ(slices.has_empty(), lines < 16);
        for (std::size_t part = 0; part < 16; ++part)
            EXPECT_EQ(slices[part].count() == 0, part >= lines) << "part " << part << " of " << lines << " lines";
    }
}

TEST(Slices, TheGranuleFillsWholeLinesAndIsTheSmallestForPowersOfTwo) {
    for (std::size_t element = 1; element <= 200; ++element) {
        ASSERT_TRUE(element >= line || line_granule(element) * element % line == 0) << element;
        ASSERT_GE(line_granule(element) * element, line);
    }
    for (std::size_t element = 1; element <= line; element *= 2) EXPECT_EQ(line_granule(element), line / element);
}

}  // namespace
}  // namespace peercoll
