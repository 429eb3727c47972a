// SPDX-License-Identifier: BSD-3-Clause
// Access of one device to another's memory, inside this process. The driver maps a pair only once both directions are
// enabled, so both always are; and it counts, so that what we take back is ours alone.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

int can_access_peer(int32_t device, int32_t peer);
peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason);
peercoll_status_t disable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason);
// The same for work inside.
Status enable_pair(Attachment& attachment, int32_t device, int32_t peer);
bool is_enabled(Attachment& attachment, int32_t device, int32_t peer);
// For close(): whatever we enabled and nobody has disabled.
void disable_our_peers(Attachment& attachment);

}  // namespace peercoll::ascend
