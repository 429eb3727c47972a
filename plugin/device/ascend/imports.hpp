// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes, mapped here.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

peercoll_status_t import_memory(int32_t device, const peercoll_memory_handle_t* handle, int fd,
                                peercoll_mapping_t* mapping, peercoll_reason_t* reason);
void release_mapping(peercoll_mapping_t* mapping);

}  // namespace peercoll::ascend
