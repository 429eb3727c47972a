// SPDX-License-Identifier: BSD-3-Clause
// What the program prints: the devices, who reaches whom, and a matrix of bandwidths for each way of bringing bytes.
#pragma once

#include "mpi_examples/peer_copy/runtime.hpp"
#include "mpi_examples/peer_copy/transfer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace peercoll::peer_copy {

// [from][to]; nothing for a pair that does not reach each other.
using Results = std::vector<std::vector<std::optional<PairResult>>>;

std::string devices_text(const Runtime& runtime);
// Where kernels of each device come from, or why there are none. Known once the devices were used.
std::string kernels_text(const Runtime& runtime);
// Row: the device that reaches. Column: the device that has the memory.
std::string access_text(const Runtime& runtime);
// Row: from. Column: to.
std::string bandwidth_text(const Results& results, std::size_t bytes);
// How many pairs of different devices were tried, and of how many; then each problem.
std::string summary_text(const Results& results);

std::size_t problems(const Results& results);

}  // namespace peercoll::peer_copy
