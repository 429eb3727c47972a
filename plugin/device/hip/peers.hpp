// SPDX-License-Identifier: BSD-3-Clause
// Access of one device's kernels to another device's memory, inside this process. Counted; what the application has
// enabled itself is left alone.
#pragma once

#include "plugin/device/hip/attachment.hpp"

namespace peercoll::hip {

int can_access_peer(int32_t device, int32_t peer);
peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason);
peercoll_status_t disable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason);
// For close(): whatever we enabled and nobody has disabled.
void disable_our_peers(Attachment& attachment);

}  // namespace peercoll::hip
