// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/last_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

namespace peercoll {
namespace {

TEST(LastError, OfAThreadThatHadNoneIsEmpty) {
    std::string text = "not asked";
    std::thread([&] { text = last_error(); }).join();
    EXPECT_EQ(text, "");
}

TEST(LastError, IsTheLastSentence) {
    set_last_error("the first thing was wrong");
    set_last_error("less");
    EXPECT_STREQ(last_error(), "less");
    set_last_error("");
    EXPECT_STREQ(last_error(), "");
}

TEST(LastError, BelongsToItsThread) {
    set_last_error("mine");
    std::string theirs;
    std::thread([&] {
        set_last_error("theirs");
        theirs = last_error();
    }).join();
    EXPECT_EQ(theirs, "theirs");
    EXPECT_STREQ(last_error(), "mine");
}

TEST(LastError, IsItsOwnCopyOfWhatItWasGiven) {
    std::string sentence = "rank 3 does not exist";
    set_last_error(std::string_view(sentence).substr(0, 6));
    sentence.assign(sentence.size(), 'x');
    EXPECT_STREQ(last_error(), "rank 3");
}

TEST(LastError, OfAnySizeIsCutAndEnded) {
    for (const std::size_t size : {510, 511, 512, 513, 100'000}) {
        set_last_error(std::string(size, 'a'));
        EXPECT_EQ(std::string(last_error()), std::string(std::min<std::size_t>(size, 511), 'a'));
    }
}

}  // namespace
}  // namespace peercoll
