// SPDX-License-Identifier: BSD-3-Clause
// Copies between any two memories, and flags behind them.
#pragma once

#include "plugin/device/hip/streams.hpp"

namespace peercoll::hip {

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason);
peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t* reason);

}  // namespace peercoll::hip
