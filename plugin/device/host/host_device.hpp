// SPDX-License-Identifier: BSD-3-Clause
// Host memory as a device: shared segments, and single copies of other processes' memory.
#pragma once

#include <peercoll/device.h>

namespace peercoll {

// The host's implementation of include/peercoll/device.h. Static.
const peercoll_device_runtime_t& host_device();

}  // namespace peercoll
