// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC, but for the pair with an x87 value (wide_floats.cpp).
#include <cstdint>

#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/pair_kernels.hpp"

namespace peercoll::kernels::PEERCOLL_KERNEL_SET {

FoldFunction find_pair_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_PAIR_FLOAT32_INT32:
            return find_pair<float, std::int32_t>(op);
        case PEERCOLL_PAIR_FLOAT64_INT32:
            return find_pair<double, std::int32_t>(op);
        case PEERCOLL_PAIR_INT64_INT32:
            return find_pair<std::int64_t, std::int32_t>(op);
        case PEERCOLL_PAIR_INT32_INT32:
            return find_pair<std::int32_t, std::int32_t>(op);
        case PEERCOLL_PAIR_INT16_INT32:
            return find_pair<std::int16_t, std::int32_t>(op);
        case PEERCOLL_PAIR_FLOAT32_FLOAT32:
            return find_pair<float, float>(op);
        case PEERCOLL_PAIR_FLOAT64_FLOAT64:
            return find_pair<double, double>(op);
        default:
            return nullptr;
    }
}

}  // namespace peercoll::kernels::PEERCOLL_KERNEL_SET
