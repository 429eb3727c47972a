// SPDX-License-Identifier: BSD-3-Clause
// Which Open MPI an object may run in: built-for release x running release, accepted or refused with a sentence.
#include "plugin/openmpi/abi_check.h"

#include <gtest/gtest.h>

#include <string>

namespace {

struct Answer {
    bool fits;
    std::string sentence;
};

Answer ask(peercoll_openmpi_release built, const char* library_version) {
    char sentence[400] = "";
    const bool fits = peercoll_openmpi_fits(built, library_version, sentence, sizeof(sentence));
    return {fits, sentence};
}

std::string library(const std::string& release) {
    return "Open MPI v" + release + ", package: Debian OpenMPI, ident: " + release + ", repo rev: v" + release;
}

TEST(OpenMpiAbi, FitsEveryReleaseOfItsOwnLayout) {
    for (const char* running : {"4.1.0", "4.1.4", "4.1.8"}) {
        const Answer answer = ask({4, 1, 4}, library(running).c_str());
        EXPECT_TRUE(answer.fits) << answer.sentence;
        EXPECT_EQ(answer.sentence, "");
    }
    EXPECT_TRUE(ask({5, 0, 7}, library("5.0.0").c_str()).fits);
    EXPECT_TRUE(ask({5, 0, 0}, library("5.0.9").c_str()).fits);
    EXPECT_TRUE(ask({5, 0, 10}, library("5.0.10").c_str()).fits);
    EXPECT_TRUE(ask({5, 0, 10}, library("5.0.12").c_str()).fits);
    EXPECT_TRUE(ask({5, 0, 7}, library("5.0.8rc1").c_str()).fits);
}

TEST(OpenMpiAbi, RefusesTheLayoutThatGrewAMemberInBothDirections) {
    const Answer older_object = ask({5, 0, 9}, library("5.0.10").c_str());
    EXPECT_FALSE(older_object.fits);
    EXPECT_NE(older_object.sentence.find("built with Open MPI 5.0.9 and fits 5.0.0 to 5.0.9"), std::string::npos)
        << older_object.sentence;
    EXPECT_NE(older_object.sentence.find("runs Open MPI 5.0.10"), std::string::npos) << older_object.sentence;

    const Answer newer_object = ask({5, 0, 10}, library("5.0.9").c_str());
    EXPECT_FALSE(newer_object.fits);
    EXPECT_NE(newer_object.sentence.find("fits 5.0.10 and later 5.0"), std::string::npos) << newer_object.sentence;
}

TEST(OpenMpiAbi, RefusesOtherSeries) {
    for (const char* running : {"4.0.3", "4.2.0", "5.0.7", "5.1.0", "6.0.0"}) {
        const Answer answer = ask({4, 1, 4}, library(running).c_str());
        EXPECT_FALSE(answer.fits) << running;
        EXPECT_NE(answer.sentence.find(std::string("runs Open MPI ") + running), std::string::npos) << answer.sentence;
        EXPECT_NE(answer.sentence.find(PEERCOLL_OPENMPI_SUPPORTED), std::string::npos) << answer.sentence;
    }
    EXPECT_FALSE(ask({5, 0, 7}, library("4.1.4").c_str()).fits);
}

TEST(OpenMpiAbi, RefusesAnObjectBuiltForAReleaseNobodyKnows) {
    EXPECT_FALSE(ask({6, 0, 0}, library("6.0.0").c_str()).fits);
    EXPECT_FALSE(ask({4, 0, 3}, library("4.0.3").c_str()).fits);
}

TEST(OpenMpiAbi, RefusesALibraryThatDoesNotSayWhatItIs) {
    for (const char* text : {"", "MPICH Version:\t4.0.2\nMPICH Release date", "Open MPI", "Open MPI v4",
                             "Open MPI v4.1", "Open MPI v-4.1.4", "Open MPI vx.y.z"}) {
        const Answer answer = ask({4, 1, 4}, text);
        EXPECT_FALSE(answer.fits) << text;
        EXPECT_NE(answer.sentence.find("expected \"Open MPI v\""), std::string::npos) << answer.sentence;
        EXPECT_EQ(answer.sentence.find('\n'), std::string::npos) << answer.sentence;
    }
    EXPECT_FALSE(ask({4, 1, 4}, nullptr).fits);
}

TEST(OpenMpiAbi, CutsALongNameOfALibrary) {
    const Answer answer = ask({4, 1, 4}, std::string(5000, 'x').c_str());
    EXPECT_FALSE(answer.fits);
    EXPECT_LT(answer.sentence.size(), 300u);
}

}  // namespace
