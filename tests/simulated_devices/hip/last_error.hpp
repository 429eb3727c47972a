// SPDX-License-Identifier: BSD-3-Clause
// The error that each thread keeps. Before ROCm 7 every call leaves its result there, success too; since then only an
// error does, and it stays until it is taken.
#pragma once

#include "tests/simulated_devices/hip/types.hpp"

namespace peercoll::simulator::hip {

// Keeps the result of a call, and gives it back.
hipError_t finish(hipError_t result);

}  // namespace peercoll::simulator::hip
