// SPDX-License-Identifier: BSD-3-Clause
// COMPLEX_FLOAT32 and COMPLEX_FLOAT64.
#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/float_kernels.hpp"

namespace peercoll::kernels::PEERCOLL_KERNEL_SET {

FoldFunction find_complex_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_COMPLEX_FLOAT32:
            return find_complex<float>(op);
        case PEERCOLL_COMPLEX_FLOAT64:
            return find_complex<double>(op);
        default:
            return nullptr;
    }
}

}  // namespace peercoll::kernels::PEERCOLL_KERNEL_SET
