// SPDX-License-Identifier: BSD-3-Clause
// A vendor's library is one in a process, and so is the state of the runtime that stands on it; contexts are many. They
// count themselves here, so that the last one closes what the first one has opened.
#pragma once

#include <peercoll/device.h>

namespace peercoll {

// runtime.open(), which gives later users the first one's answer. Whoever got PEERCOLL_SUCCESS calls close_runtime().
peercoll_status_t open_runtime(const peercoll_device_runtime_t& runtime, peercoll_reason_t& reason);
void close_runtime(const peercoll_device_runtime_t& runtime);

}  // namespace peercoll
