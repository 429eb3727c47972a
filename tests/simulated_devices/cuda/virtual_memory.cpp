// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/cuda/driver.hpp"
namespace peercoll::simulator::cuda {
void add_virtual_memory_leaks(LeakCount&) {}
}  // namespace peercoll::simulator::cuda
