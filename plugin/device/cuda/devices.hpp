// SPDX-License-Identifier: BSD-3-Clause
// Which devices there are, and what is known of each.
#pragma once

#include "plugin/device/cuda/attachment.hpp"

namespace peercoll::cuda {

// Fills in attachment.devices. Fails if there is none.
Status find_devices(Attachment& attachment);

int32_t device_count();
peercoll_status_t device_info(int32_t device, peercoll_device_info_t* info, peercoll_reason_t* reason);
const char* version_text();

}  // namespace peercoll::cuda
