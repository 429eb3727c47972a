// SPDX-License-Identifier: BSD-3-Clause
// Which reductions aclrtReduceAsync() does for us. It knows three operations on a few datatypes, and others on each
// kind of device; how it wraps, rounds and treats NaNs is written nowhere. So each is tried once on the device, with
// values that tell, and is used only if every bit is as the host's kernels have it.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

struct Reduction {
    int kind = 0;
    int type = 0;
};

// What might do it; false: nothing. Half types only where no rounding is involved, since a plan rounds them once for
// several inputs.
bool find_reduction(peercoll_datatype_t datatype, peercoll_op_t op, Reduction& reduction);
// Operations that only choose an input, on elements that are copied as they are.
bool is_choice(peercoll_datatype_t datatype, peercoll_op_t op);

// 1 if fold() can do it on `device`.
int can_fold(int32_t device, peercoll_datatype_t datatype, peercoll_op_t op);
// The same for work inside; tries it if that has not been done.
bool gives_host_bits(Attachment& attachment, Device& device, peercoll_datatype_t datatype, peercoll_op_t op);

}  // namespace peercoll::ascend
