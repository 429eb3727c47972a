// SPDX-License-Identifier: BSD-3-Clause
// An allocation of this process, named to others.
#pragma once

#include "plugin/device/hip/attachment.hpp"

namespace peercoll::hip {

peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t reader_pid,
                                peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason);

}  // namespace peercoll::hip
