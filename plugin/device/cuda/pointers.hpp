// SPDX-License-Identifier: BSD-3-Clause
// What a pointer points to, whether that is still there, and when others may read it.
#pragma once

#include "plugin/device/cuda/attachment.hpp"

namespace peercoll::cuda {

// How many of the attributes of classify()'s one query the driver takes; 0 if it answers none.
unsigned known_pointer_attributes(const DriverFunctions& driver);

void classify(const void* address, peercoll_pointer_info_t* info);
int is_live(uint64_t base, uint64_t allocation_id);
peercoll_status_t settle(const peercoll_pointer_info_t* info, int* lasting, peercoll_reason_t* reason);

}  // namespace peercoll::cuda
