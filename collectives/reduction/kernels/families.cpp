// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduction/kernels/families.hpp"

namespace peercoll::kernels::PEERCOLL_KERNEL_SET {

Families families() {
    return {find_float_fold,   find_integer_fold, find_logical_fold,   find_half_fold,
            find_complex_fold, find_pair_fold,    find_wide_float_fold};
}

}  // namespace peercoll::kernels::PEERCOLL_KERNEL_SET
