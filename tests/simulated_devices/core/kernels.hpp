// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the simulated node: functions of the shared library that PEERCOLL_SIMULATOR_KERNELS names.
#pragma once

#include "tests/simulated_devices/core/execution.hpp"
#include "tests/simulated_devices/core/simulated_launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::simulator {

struct Kernel {
    void (*function)(void*, const peercoll_simulated_launch*) = nullptr;  // null: there is none of that name
    std::size_t parameter_bytes = 0;
    bool stays = false;  // waits for more to do, so other streams' work goes on beside it
};

// A library that cannot be loaded is told on standard error, once.
Kernel find_kernel(const std::string& name);

struct LaunchShape {
    std::array<std::uint32_t, 3> grid;
    std::array<std::uint32_t, 3> block;
    std::uint32_t shared_bytes;
};

// Runs it here and now. `ordinal`: what the process calls the device.
Result run_kernel(const ExecutionContext& context, int ordinal, const Kernel& kernel, std::vector<std::byte> parameters,
                  const LaunchShape& shape);

}  // namespace peercoll::simulator
