// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/tag.hpp"

#include <gtest/gtest.h>

#include <set>

namespace peercoll::ucx {
namespace {

TEST(Tag, EachPartHasBitsOfItsOwn) {
    // By hand from the picture in tag.hpp.
    EXPECT_EQ(tag_of({0xABCD, 0, 0, 0}), 0xABCD'0000'0000'0000u);
    EXPECT_EQ(tag_of({0, 0x1234, 0, 0}), 0x0000'1234'0000'0000u);
    EXPECT_EQ(tag_of({0, 0, 0xFEDCB, 0}), 0x0000'0000'FEDC'B000u);
    EXPECT_EQ(tag_of({0, 0, 0, 0x789}), 0x0000'0000'0000'0789u);
    EXPECT_EQ(tag_of({0xABCD, 0x1234, 0xFEDCB, 0x789}), 0xABCD'1234'FEDC'B789u);
}

TEST(Tag, TheSequenceWrapsAround) {
    EXPECT_EQ(tag_of({1, 0x1'0005, 2, 3}), tag_of({1, 5, 2, 3}));
    EXPECT_NE(tag_of({1, 0xFFFF, 2, 3}), tag_of({1, 0x1'0000, 2, 3}));
}

TEST(Tag, PartsThatDoNotFitAreRefusedInsteadOfCutOff) {
    EXPECT_TRUE(tag_of({0xFFFF, 0, 0xFFFFF, 0xFFF}));
    EXPECT_FALSE(tag_of({0x10000, 0, 0, 0}));
    EXPECT_FALSE(tag_of({0, 0, 0x100000, 0}));
    EXPECT_FALSE(tag_of({0, 0, 0, 0x1000}));
    EXPECT_FALSE(tag_of({0xFFFFFFFF, 0, 0, 0}));
}

TEST(Tag, DifferentNamesAreDifferentTags) {
    std::set<std::uint64_t> tags;
    std::size_t names = 0;
    for (std::uint32_t communicator : {0u, 1u, 2u, 0xFFFFu}) {
        for (std::uint32_t sequence : {0u, 1u, 0xFFFFu}) {
            for (std::uint32_t source : {0u, 1u, 16383u, 0xFFFFFu}) {
                for (std::uint32_t stage : {0u, 1u, 0xFFFu}) {
                    tags.insert(tag_of({communicator, sequence, source, stage}).value());
                    ++names;
                }
            }
        }
    }
    EXPECT_EQ(tags.size(), names);
}

}  // namespace
}  // namespace peercoll::ucx
