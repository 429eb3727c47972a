// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/affinity.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <initializer_list>
#include <vector>

namespace peercoll {
namespace {

AffinityMask processors(std::initializer_list<int> numbers) {
    AffinityMask mask;
    for (const int number : numbers)
        mask.words[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << (number % 64);
    return mask;
}

TEST(Affinity, CountsProcessorsInEveryWord) {
    EXPECT_EQ(AffinityMask{}.count(), 0);
    EXPECT_EQ(processors({0}).count(), 1);
    EXPECT_EQ(processors({0, 63, 64, 127, 1023}).count(), 5);
}

TEST(Affinity, OfThisProcessIsWhatTheKernelSays) {
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    const AffinityMask mask = AffinityMask::of_this_process();
    EXPECT_EQ(mask.count(), CPU_COUNT(&set));
    for (int number = 0; number < CPU_SETSIZE && number < 1024; ++number) {
        const bool there = (mask.words[static_cast<std::size_t>(number / 64)] >> (number % 64) & 1) != 0;
        EXPECT_EQ(there, CPU_ISSET(number, &set) != 0) << "processor " << number;
    }
}

struct Crowd {
    const char* what;
    std::vector<AffinityMask> ranks;
    bool crowded;
};

TEST(Affinity, RanksAreCrowdedIfTheyMustShareProcessors) {
    const AffinityMask both = processors({0, 1});
    for (const Crowd& crowd : {
             Crowd{"one rank each", {processors({0}), processors({1})}, false},
             {"two ranks that may run on both", {both, both}, false},
             {"three ranks on two processors", {both, both, both}, true},
             {"two ranks bound to one processor, others free", {processors({3}), processors({3}), both}, true},
             {"three ranks on two processors, bound differently", {both, processors({0}), processors({1})}, true},
             {"two pairs on two sockets", {both, both, processors({64, 65}), processors({64, 65})}, false},
             {"three on one socket and one on the other", {both, both, both, processors({64, 65})}, true},
             {"far processors count too", {processors({1023}), processors({1022})}, false},
             {"one rank", {processors({5})}, false},
             {"nothing known of anybody", {AffinityMask{}, AffinityMask{}}, false},
             {"nobody", {}, false},
         })
        EXPECT_EQ(is_crowded(crowd.ranks), crowd.crowded) << crowd.what;
}

}  // namespace
}  // namespace peercoll
