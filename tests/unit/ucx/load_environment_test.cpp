// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/load_environment.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace peercoll::ucx {
namespace {

constexpr const char* one = "PEERCOLL_TEST_LOAD_ONE";
constexpr const char* two = "PEERCOLL_TEST_LOAD_TWO";

TEST(LoadEnvironment, VariablesAreThereDuringAndGoneAfterwards) {
    char** const before = environ;
    {
        const LoadEnvironment during({"PEERCOLL_TEST_LOAD_ONE=n", "PEERCOLL_TEST_LOAD_TWO="});
        EXPECT_STREQ(std::getenv(one), "n");
        EXPECT_STREQ(std::getenv(two), "");
        EXPECT_NE(std::getenv("PATH"), nullptr) << "the others are still there";
    }
    EXPECT_EQ(environ, before);
    EXPECT_EQ(std::getenv(one), nullptr);
    EXPECT_EQ(std::getenv(two), nullptr);
}

TEST(LoadEnvironment, WhatTheUserHasSetIsLeftAlone) {
    ::setenv(one, "user", 1);
    {
        const LoadEnvironment during({"PEERCOLL_TEST_LOAD_ONE=n"});
        EXPECT_STREQ(std::getenv(one), "user");
    }
    EXPECT_STREQ(std::getenv(one), "user");
    ::unsetenv(one);
}

TEST(LoadEnvironment, AVariableThatIsSetMeanwhileIsNotLost) {
    {
        const LoadEnvironment during({"PEERCOLL_TEST_LOAD_ONE=n"});
        ::setenv(two, "kept", 1);
    }
    EXPECT_STREQ(std::getenv(two), "kept");
    ::unsetenv(two);
    ::unsetenv(one);
}

}  // namespace
}  // namespace peercoll::ucx
