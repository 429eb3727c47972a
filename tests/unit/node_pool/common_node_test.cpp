// SPDX-License-Identifier: BSD-3-Clause
// Which pooled node the ranks go on with, from what each says it has.
#include "plugin/runtime/node_pool.hpp"

#include <gtest/gtest.h>

namespace peercoll {
namespace {

PooledNode at(std::uint64_t id, std::uint64_t step = 100) {
    return {id, {step, step / 2, step / 4}};
}

TEST(CommonNode, IsTheOneThatAllRanksHaveInWhateverPlace) {
    EXPECT_EQ(common_node({{at(5), at(7)}, {at(7), at(9)}, {at(3), at(7)}}), 7U);
}

TEST(CommonNode, IsTheSmallestOfSeveral) {
    EXPECT_EQ(common_node({{at(7), at(5)}, {at(5), at(7)}}), 5U);
    EXPECT_EQ(common_node({{at(5), at(7)}, {at(7), at(5)}}), 5U);
}

TEST(CommonNode, IsNoneIfOneRankLacksIt) {
    EXPECT_EQ(common_node({{at(5), at(7)}, {at(5), at(7)}, {at(6), at(8)}}), 0U);
    EXPECT_EQ(common_node({{at(5)}, {PooledNode{}}}), 0U);
}

TEST(CommonNode, IsNoneWhereNobodyHasAny) {
    EXPECT_EQ(common_node({PooledNodes{}, PooledNodes{}}), 0U);
}

TEST(CommonNode, IsNotOneInWhichRanksHaveDoneDifferentOperations) {
    EXPECT_EQ(common_node({{at(5, 100), at(7)}, {at(5, 101), at(7)}}), 7U);
    PooledNode other_cell = at(5);
    ++other_cell.position.cell;
    EXPECT_EQ(common_node({{at(5)}, {other_cell}}), 0U);
    PooledNode other_packet = at(5);
    ++other_packet.position.packet_line;
    EXPECT_EQ(common_node({{at(5)}, {other_packet}}), 0U);
}

}  // namespace
}  // namespace peercoll
