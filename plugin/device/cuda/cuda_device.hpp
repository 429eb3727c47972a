// SPDX-License-Identifier: BSD-3-Clause
// CUDA devices: the driver that this process has loaded, if it has.
#pragma once

#include <peercoll/device.h>

namespace peercoll {

// CUDA's implementation of the second part of include/peercoll/device.h. Static. Calls nothing of CUDA before open().
const peercoll_device_runtime_t& cuda_device();

}  // namespace peercoll
