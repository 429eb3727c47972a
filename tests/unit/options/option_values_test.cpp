// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/option_values.hpp"

#include <gtest/gtest.h>

#include <array>

namespace peercoll {
namespace {

using namespace std::chrono_literals;

TEST(OptionValues, SizesAreBytesOrBinaryMultiples) {
    EXPECT_EQ(parse_size("4096"), 4096U);
    EXPECT_EQ(parse_size("4096b"), 4096U);
    EXPECT_EQ(parse_size("64KiB"), 64U * 1024U);
    EXPECT_EQ(parse_size("64k"), 64U * 1024U);
    EXPECT_EQ(parse_size(" 1MiB "), 1024U * 1024U);
    EXPECT_EQ(parse_size("3M"), 3U * 1024U * 1024U);
    EXPECT_EQ(parse_size("2G"), 2048U * 1024U * 1024U);
}

TEST(OptionValues, WhatIsNoSizeIsRefused) {
    for (const char* text : {"", " ", "k", "KiB", "-1", "+1", "1.5MiB", "64 KiB", "64KB", "64KiBs", "0x10", "1e6",
                             "99999999999999999999", "9999999999G", "auto"}) {
        EXPECT_EQ(parse_size(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(OptionValues, DurationsHaveAUnit) {
    EXPECT_EQ(parse_duration("500ms"), 500ms);
    EXPECT_EQ(parse_duration("2s"), 2000ms);
    EXPECT_EQ(parse_duration("3MIN"), 180000ms);
    EXPECT_EQ(parse_duration("24h"), 86400000ms);
    for (const char* text : {"", "5", "ms", "1.5s", "-1s", "1m", "1us", "2 s", "off", "99999999999999999h"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(OptionValues, ShortDurationsHaveAUnit) {
    EXPECT_EQ(parse_short_duration("30us"), 30us);
    EXPECT_EQ(parse_short_duration("2ms"), 2000us);
    EXPECT_EQ(parse_short_duration("1S"), 1000000us);
    for (const char* text : {"", "5", "us", "1.5us", "-1us", "1min", "1h", "3 us", "off", "99999999999999999s"}) {
        EXPECT_EQ(parse_short_duration(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(OptionValues, WordsAreFoundByTheirPosition) {
    constexpr std::array<std::string_view, 3> words{"auto", "cma", "off"};
    EXPECT_EQ(parse_word("auto", words), 0U);
    EXPECT_EQ(parse_word(" CMA", words), 1U);
    EXPECT_EQ(parse_word("off\t", words), 2U);
    EXPECT_EQ(parse_word("o", words), std::nullopt);
    EXPECT_EQ(parse_word("", words), std::nullopt);
}

TEST(OptionValues, AMisspellingFindsTheNearestName) {
    constexpr std::array<std::string_view, 4> names{"wait", "log", "segment", "segment_size"};
    EXPECT_EQ(nearest_name("WIAT", names), "wait");
    EXPECT_EQ(nearest_name("segmentsize", names), "segment_size");
    EXPECT_EQ(nearest_name("segmnt", names), "segment");
    EXPECT_EQ(nearest_name("xyz", names), "") << "three replaced letters of three are no misspelling";
    EXPECT_EQ(nearest_name("completely_different", names), "");
}

}  // namespace
}  // namespace peercoll
