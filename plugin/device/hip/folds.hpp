// SPDX-License-Identifier: BSD-3-Clause
// Folds: kernels on one device that read the inputs and write the outputs of many ranks.
#pragma once

#include "plugin/device/hip/streams.hpp"

namespace peercoll::hip {

int can_fold(int32_t device, peercoll_datatype_t datatype, peercoll_op_t op);
peercoll_status_t fold(peercoll_stream_t stream, const peercoll_fold_t* fold, peercoll_reason_t* reason);

// For the end of a stream.
void give_back_counter(Stream& stream);

}  // namespace peercoll::hip
