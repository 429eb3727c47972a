// SPDX-License-Identifier: BSD-3-Clause
// The program around a suite: which behaviours run, what is printed, which table is written, how it ends.
#pragma once

#include "tests/conformance/runner/suite.hpp"

namespace peercoll::conformance {

// For main(). 0: as expected; 1: something was not; 2: the command line is wrong.
int run_suite(const Suite& suite, int argc, char** argv);

}  // namespace peercoll::conformance
