// SPDX-License-Identifier: BSD-3-Clause
// HIP devices (ROCm 5, 6 and 7): the runtime that this process has loaded, if it has.
#pragma once

#include <peercoll/device.h>

namespace peercoll {

// HIP's implementation of the second part of include/peercoll/device.h. Static. Calls nothing of HIP before open().
const peercoll_device_runtime_t& hip_device();

}  // namespace peercoll
