// SPDX-License-Identifier: BSD-3-Clause
// Whether the driver can be used at all, and which variant of it is simulated.
#pragma once

#include "tests/simulated_devices/core/node.hpp"
#include "tests/simulated_devices/cuda/types.hpp"

#include <string>

namespace peercoll::simulator::cuda {

// "GPU-00112233-4455-..."
std::string uuid_text(const Uuid& uuid);

// PEERCOLL_SIMULATOR_VARIANT
enum class Variant { Usual, Stub, NoDevice, DriverMismatch };
Variant variant();

// The node's, or that of this build if it is an old one's.
int reported_driver_version();

}  // namespace peercoll::simulator::cuda
