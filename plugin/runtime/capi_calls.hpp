// SPDX-License-Identifier: BSD-3-Clause
// What a caller of the C ABI asks for, checked, as a call of the runtime.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/runtime/call.hpp"

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>

namespace peercoll::capi {

Status allreduce_call(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype, peercoll_op_t op,
                      peercoll_comm_t comm, Call& call);
Status broadcast_call(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm, Call& call);

}  // namespace peercoll::capi
