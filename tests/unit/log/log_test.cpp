// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace peercoll {
namespace {

using testing::ElementsAre;

struct Recorder {
    std::vector<std::string> lines;
    LogSink sink() {
        return [this](std::string_view line) { lines.emplace_back(line); };
    }
};

TEST(Log, ALineSaysWhoSpeaks) {
    Recorder recorder;
    const Log log(LogLevel::Debug, "rank 3", recorder.sink());
    log.error("one");
    log.warn("two");
    log.info("three");
    log.debug("four");
    EXPECT_THAT(recorder.lines, ElementsAre("peercoll [rank 3] error: one\n", "peercoll [rank 3] warning: two\n",
                                            "peercoll [rank 3] three\n", "peercoll [rank 3] four\n"));
}

TEST(Log, WhatIsLessImportantThanTheLimitIsNotSaid) {
    constexpr LogLevel all[]{LogLevel::Off, LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug};
    for (std::size_t limit = 0; limit < std::size(all); ++limit) {
        Recorder recorder;
        const Log log(all[limit], "x", recorder.sink());
        for (std::size_t at = 1; at < std::size(all); ++at) {
            EXPECT_EQ(log.wants(all[at]), at <= limit);
            log.say(all[at], "text");
        }
        EXPECT_EQ(recorder.lines.size(), limit) << "limit n lets the n most important levels through";
    }
}

TEST(Log, WhatAnotherOptionAskedForIsSaidAlways) {
    Recorder recorder;
    const Log log(LogLevel::Off, "x", recorder.sink());
    log.error("not this");
    log.always("this");
    EXPECT_THAT(recorder.lines, ElementsAre("peercoll [x] this\n"));
}

TEST(Log, AMessageWithNewlinesIsStillOneLine) {
    Recorder recorder;
    Log(LogLevel::Warn, "two\nlines", recorder.sink()).warn("first\nsecond\n");
    EXPECT_THAT(recorder.lines, ElementsAre("peercoll [two lines] warning: first second \n"));
}

TEST(Log, GoesToStandardErrorAndLeavesErrnoAlone) {
    testing::internal::CaptureStderr();
    errno = EDOM;
    Log(LogLevel::Warn, "rank 0").warn("hello");
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "peercoll [rank 0] warning: hello\n");
}

}  // namespace
}  // namespace peercoll
