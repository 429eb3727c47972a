// SPDX-License-Identifier: BSD-3-Clause
// Copies between any two memories. ACL must be told what kind of copy it is, takes memory of other processes in copies
// between devices alone, and has no copies from host to host.
#pragma once

#include "plugin/device/ascend/streams.hpp"

namespace peercoll::ascend {

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason);
// Nothing on these devices writes a flag that processors can await: NOT_SUPPORTED, the stream is to be queried.
peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t* reason);

// From device to device on a stream, whose device is current and whose mutex is held.
Status copy_on_device(const Attachment& attachment, Stream& stream, uint64_t to, uint64_t from, size_t bytes);

}  // namespace peercoll::ascend
