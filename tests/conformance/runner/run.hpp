// SPDX-License-Identifier: BSD-3-Clause
// Runs a behaviour: one forked process per role, bounded in time, none left behind. The runner itself never touches the
// device runtime: a process that has is of no use as a parent.
#pragma once

#include "tests/conformance/runner/observation.hpp"
#include "tests/conformance/runner/suite.hpp"

#include <chrono>

namespace peercoll::conformance {

Outcome run(const Behaviour& behaviour, std::chrono::seconds limit);

}  // namespace peercoll::conformance
