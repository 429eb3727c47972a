// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/common/inline_list.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace peercoll {
namespace {

using List = InlineList<int, 4>;

std::vector<int> values_of(const List& list) {
    return {list.begin(), list.end()};
}

TEST(InlineList, KeepsValuesInOrderUpToItsRoom) {
    List list;
    EXPECT_TRUE(list.empty());
    for (const int value : {5, 7, 9, 11}) list.push_back(value);
    EXPECT_EQ(values_of(list), (std::vector<int>{5, 7, 9, 11}));
    EXPECT_EQ(list.size(), 4U);
    EXPECT_EQ(list[2], 9);
    list[2] = 10;
    EXPECT_EQ(list.data()[2], 10);
    list.clear();
    EXPECT_TRUE(list.empty());
}

TEST(InlineList, CopiesStandForThemselves) {
    List list;
    list.push_back(1);
    list.push_back(2);
    List copy(list);
    copy[0] = 3;
    copy.push_back(4);
    EXPECT_EQ(values_of(list), (std::vector<int>{1, 2}));
    EXPECT_EQ(values_of(copy), (std::vector<int>{3, 2, 4}));
    List& same = copy;
    copy = same;
    EXPECT_EQ(values_of(copy), (std::vector<int>{3, 2, 4}));
    copy = List();
    EXPECT_TRUE(copy.empty());
}

TEST(InlineList, IsShortenedFromTheEndAndByAPredicate) {
    List list;
    for (const int value : {1, 2, 3, 4}) list.push_back(value);
    list.erase_if([](int value) { return value % 2 == 1; });
    EXPECT_EQ(values_of(list), (std::vector<int>{2, 4}));
    list.shorten(1);
    EXPECT_EQ(values_of(list), (std::vector<int>{2}));
    list.erase_if([](int) { return true; });
    EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace peercoll
