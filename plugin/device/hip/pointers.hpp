// SPDX-License-Identifier: BSD-3-Clause
// What a pointer points to, whether that is still there, and when others may read it.
#pragma once

#include "plugin/device/hip/attachment.hpp"

namespace peercoll::hip {

void classify(const void* address, peercoll_pointer_info_t* info);
int is_live(uint64_t base, uint64_t allocation_id);
peercoll_status_t settle(const peercoll_pointer_info_t* info, int* lasting, peercoll_reason_t* reason);

// The device on which the memory at `address` is, -1 for host memory and for what HIP does not know. Of another
// process's memory: its owner's device, and not the one it was mapped for.
int32_t device_of(const Attachment& attachment, std::uint64_t address);

}  // namespace peercoll::hip
