// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <peercoll/device.h>

namespace peercoll::host {

peercoll_status_t share_allocate(peercoll_share_kind_t kind, size_t bytes, peercoll_share_t* share,
                                 peercoll_share_handle_t* handle, peercoll_reason_t* reason);
peercoll_status_t share_attach(const peercoll_share_handle_t* handle, peercoll_share_t* share,
                               peercoll_reason_t* reason);
void share_seal(peercoll_share_t* share);
void share_release(peercoll_share_t* share);

}  // namespace peercoll::host
