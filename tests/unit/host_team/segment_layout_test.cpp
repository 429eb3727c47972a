// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/segment_layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace peercoll {
namespace {

constexpr std::size_t most_ranks = 256;

struct Area {
    const char* name;
    std::size_t begin;
    std::size_t bytes;
};

// Everything a rank or all of them may write, in the order of the segment's picture.
std::vector<Area> areas_of(const SegmentLayout& layout) {
    return {{"header", 0, sizeof(SegmentHeader)},
            {"clocks", layout.clocks, layout.ranks * sizeof(RankClock)},
            {"arrivals", layout.arrivals, layout.ranks * sizeof(RankArrival)},
            {"packets", layout.packets, layout.ranks * packet_ring_lines * sizeof(PacketLine)},
            {"staging", layout.staging, layout.ranks * layout.staging_per_rank}};
}

TEST(SegmentLayout, KeepsToTheDefaultBudgetOfOneMebibyteAndSixtyFourKibibytesARank) {
    for (std::size_t ranks = 2; ranks <= most_ranks; ++ranks) {
        const std::size_t budget = (std::size_t{1} << 20) + ranks * (std::size_t{64} << 10);
        EXPECT_EQ(SegmentLayout::default_budget(ranks), budget);
        EXPECT_LE(SegmentLayout::minimum_budget(ranks), budget) << ranks << " ranks could not keep to it";
        EXPECT_LE(SegmentLayout::make(ranks, budget).bytes, budget) << ranks << " ranks";
    }
}

TEST(SegmentLayout, KeepsToAnyBudgetThatIsNotBelowTheMinimum) {
    for (const std::size_t ranks : {2, 3, 5, 8, 64, 255, 256}) {
        const std::size_t least = SegmentLayout::minimum_budget(ranks);
        for (std::size_t more = 0; more < 300'000; more += 997) {
            const SegmentLayout layout = SegmentLayout::make(ranks, least + more);
            ASSERT_LE(layout.bytes, least + more) << ranks << " ranks";
            ASSERT_GT(layout.bytes + ranks * 4096, least + more) << "a page a rank could have been added";
        }
    }
}

TEST(SegmentLayout, BelowTheMinimumIsTheMinimumWithAPageOfStagingForEachRank) {
    for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks) {
        const std::size_t least = SegmentLayout::minimum_budget(ranks);
        for (const std::size_t budget : {std::size_t{0}, std::size_t{1}, least / 2, least - 1, least}) {
            const SegmentLayout layout = SegmentLayout::make(ranks, budget);
            EXPECT_EQ(layout.bytes, least);
            EXPECT_EQ(layout.staging_per_rank, 4096U);
        }
    }
}

TEST(SegmentLayout, AreasLieOneAfterTheOtherAndFillTheSegment) {
    for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks)
        for (const std::size_t budget : {std::size_t{0}, SegmentLayout::default_budget(ranks), std::size_t{1} << 30}) {
            const SegmentLayout layout = SegmentLayout::make(ranks, budget);
            std::size_t end = 0;
            for (const Area& area : areas_of(layout)) {
                ASSERT_GE(area.begin, end) << area.name << " overlaps, " << ranks << " ranks";
                end = area.begin + area.bytes;
            }
            ASSERT_EQ(end, layout.bytes);
        }
}

TEST(SegmentLayout, NoTwoRanksShareALinePair) {
    for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks) {
        const SegmentLayout layout = SegmentLayout::make(ranks, SegmentLayout::default_budget(ranks));
        ASSERT_EQ(layout.clocks % line_pair, 0U);
        ASSERT_EQ(layout.arrivals % line_pair, 0U);
        ASSERT_EQ(layout.packets % line_pair, 0U);
        ASSERT_EQ(packet_ring_lines * sizeof(PacketLine) % line_pair, 0U) << "of one rank";
        ASSERT_EQ(layout.staging % line_pair, 0U);
        ASSERT_EQ(layout.staging_per_rank % 4096, 0U);
    }
}

}  // namespace
}  // namespace peercoll
