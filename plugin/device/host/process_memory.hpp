// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <peercoll/device.h>

namespace peercoll::host {

peercoll_status_t access_export(peercoll_access_token_t* token, peercoll_reason_t* reason);
peercoll_status_t access_open(const peercoll_access_token_t* token, peercoll_access_kind_t kind,
                              peercoll_access_t* access, peercoll_reason_t* reason);
int access_read(peercoll_access_t access, uint64_t address, void* local, size_t bytes);
int access_write(peercoll_access_t access, uint64_t address, const void* local, size_t bytes);
void access_close(peercoll_access_t access);

}  // namespace peercoll::host
