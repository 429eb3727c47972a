// SPDX-License-Identifier: BSD-3-Clause
#include "nodes.hpp"
#include "plugin/topology/describe.hpp"
#include "plugin/topology/hwloc_topology.hpp"

namespace peercoll::describing {
namespace {

std::string text_of_set(const std::vector<unsigned>& members) {
    const HwlocBitmap set(hwloc_bitmap_alloc());
    for (const unsigned member : members) {
        hwloc_bitmap_set(set.get(), member);
    }
    return set_text(set.get());
}

TEST(TextOfASetOfProcessors, FoldsRunsAndSteps) {
    EXPECT_EQ(text_of_set({}), "");
    EXPECT_EQ(text_of_set({7}), "7");
    EXPECT_EQ(text_of_set({7, 8}), "7-8");
    EXPECT_EQ(text_of_set({0, 1, 2, 3, 128, 129, 130, 131}), "0-3,128-131");
    EXPECT_EQ(text_of_set({0, 2, 4, 6}), "0-6:2");
    EXPECT_EQ(text_of_set({0, 128}), "0,128");
    EXPECT_EQ(text_of_set({0, 1, 8, 9, 16, 17}), "0-1,8-9,16-17");
    EXPECT_EQ(text_of_set({5, 9, 10, 11}), "5,9-11");
}

TEST(TextOfASizeInBytes, UsesTheLargestUnitThatFits) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(1023), "1023 B");
    EXPECT_EQ(bytes_text(512ULL << 10), "512 KiB");
    EXPECT_EQ(bytes_text(3ULL << 19), "1.5 MiB");
    EXPECT_EQ(bytes_text((1ULL << 30) - 1), "1 GiB");
    EXPECT_EQ(bytes_text(5ULL << 40), "5 TiB");
    EXPECT_EQ(bytes_text(5000ULL << 40), "5000 TiB");
}

TEST(TextOfACount, HasThePluralWhereItIsOne) {
    EXPECT_EQ(count_text(1, "core"), "1 core");
    EXPECT_EQ(count_text(0, "core"), "0 cores");
    EXPECT_EQ(count_text(2, "core"), "2 cores");
}

}  // namespace
}  // namespace peercoll::describing
