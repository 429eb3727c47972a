// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes, mapped here.
#pragma once

#include "plugin/device/cuda/attachment.hpp"

namespace peercoll::cuda {

peercoll_status_t import_memory(int32_t device, const peercoll_memory_handle_t* handle, int fd,
                                peercoll_mapping_t* mapping, peercoll_reason_t* reason);
uint32_t unseen_import_kinds(int32_t device);
void release_mapping(peercoll_mapping_t* mapping);

}  // namespace peercoll::cuda
