// SPDX-License-Identifier: BSD-3-Clause
// An allocation of this process, named to others by a key: by its start, as ACL knows no other way.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t reader_pid,
                                peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason);
// Nobody can open it any more. With the device's context current.
void close_export(const Attachment& attachment, const Allocation& allocation);
// For close(): all keys.
void close_exports(Attachment& attachment);

}  // namespace peercoll::ascend
