// SPDX-License-Identifier: BSD-3-Clause
// FLOAT32 and FLOAT64.
#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/float_kernels.hpp"

namespace peercoll::kernels::PEERCOLL_KERNEL_SET {

FoldFunction find_float_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_FLOAT32:
            return find_real<float>(op);
        case PEERCOLL_FLOAT64:
            return find_real<double>(op);
        default:
            return nullptr;
    }
}

}  // namespace peercoll::kernels::PEERCOLL_KERNEL_SET
