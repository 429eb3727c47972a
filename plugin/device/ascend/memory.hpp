// SPDX-License-Identifier: BSD-3-Clause
// Memory of our own on devices and for copies to them, and host memory that copies take at full speed.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

peercoll_status_t allocate(int32_t device, size_t bytes, uint64_t* address, peercoll_reason_t* reason);
void free_memory(int32_t device, uint64_t address);
peercoll_status_t allocate_host(int32_t device, size_t bytes, void** address, peercoll_reason_t* reason);
void free_host(int32_t device, void* address);
// For copies alone: *device_address is 0, since nothing on these devices writes flags into host memory.
peercoll_status_t register_host(int32_t device, void* address, size_t bytes, uint64_t* device_address,
                                peercoll_reason_t* reason);
void unregister_host(int32_t device, void* address);

}  // namespace peercoll::ascend
