// SPDX-License-Identifier: BSD-3-Clause
// The device runtimes that come with peercoll, besides host memory.
#pragma once

#include <peercoll/device.h>

#include <vector>

namespace peercoll {

std::vector<const peercoll_device_runtime_t*> built_in_runtimes();

}  // namespace peercoll
