// SPDX-License-Identifier: BSD-3-Clause
// Outcomes as a table: comma-separated, a row per observation, to be kept and compared.
#pragma once

#include "tests/conformance/runner/observation.hpp"

#include <ostream>
#include <string_view>
#include <vector>

namespace peercoll::conformance {

void write_table(std::ostream& out, std::string_view program, const std::vector<Outcome>& outcomes);

std::string_view verdict(const Observation& observation);

}  // namespace peercoll::conformance
