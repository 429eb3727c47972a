// SPDX-License-Identifier: BSD-3-Clause
// Running emulated ranks in one thread, in orders that the machine's own scheduler would hardly ever choose.
#pragma once

#include "tests/unit/host_team/emulated_rank.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace peercoll::test {

enum class Schedule {
    RoundRobin,     // one poll each
    Uniform,        // any rank, every time
    Bursts,         // any rank, for a random number of polls
    AsFarAsItGoes,  // any rank, until it has to wait
    OneIsSlow,      // one rank has one poll where the others have a hundred
};
inline constexpr Schedule all_schedules[] = {Schedule::RoundRobin, Schedule::Uniform, Schedule::Bursts,
                                             Schedule::AsFarAsItGoes, Schedule::OneIsSlow};

// Runs all jobs on all ranks. Fails at the first wrong result, and when nobody gets on any more.
testing::AssertionResult run_all(EmulatedTeam& team, const Program& program, Schedule schedule);

}  // namespace peercoll::test
