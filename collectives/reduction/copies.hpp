// SPDX-License-Identifier: BSD-3-Clause
// REPLACE and NO_OP: the last or the first input, whatever the type.
#pragma once

#include "collectives/reduction/host_kernels.hpp"

namespace peercoll {

// For elements of 1, 2, 4, 8, 16 or 32 bytes; nullptr for other sizes and operations.
FoldFunction find_copy(peercoll_op_t op, std::size_t element_bytes);

}  // namespace peercoll
