// SPDX-License-Identifier: BSD-3-Clause
// Folds without kernels of our own: the inputs, piece by piece, are copied into and reduced in the stream's scratch
// memory, in the plan's order, and the result is copied to every output.
#pragma once

#include "plugin/device/ascend/streams.hpp"

namespace peercoll::ascend {

peercoll_status_t fold(peercoll_stream_t stream, const peercoll_fold_t* fold, peercoll_reason_t* reason);

}  // namespace peercoll::ascend
