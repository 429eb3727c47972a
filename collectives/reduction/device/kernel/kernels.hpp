// SPDX-License-Identifier: BSD-3-Clause
// The kernels themselves: all of them, or one family where PEERCOLL_KERNEL_FAMILY is its number.
#pragma once

#include "collectives/reduction/device/kernel/completion.hpp"
#include "collectives/reduction/device/kernel/copy.hpp"
#include "collectives/reduction/device/kernel/floats.hpp"
#include "collectives/reduction/device/kernel/fold.hpp"
#include "collectives/reduction/device/kernel/halves.hpp"
#include "collectives/reduction/device/kernel/integers.hpp"
#include "collectives/reduction/device/kernel/kernel_list.hpp"
#include "collectives/reduction/device/kernel/pairs.hpp"
#include "collectives/reduction/device/kernel/standby.hpp"

namespace peercoll::device {

#define PEERCOLL_FOLD_KERNEL(family, DATATYPE, OP, datatype, op, ...)                                 \
    PEERCOLL_KERNEL(peercoll_fold_##datatype##_##op, sizeof(__VA_ARGS__::Element), fold<__VA_ARGS__>) \
    PEERCOLL_STANDBY_KERNEL(peercoll_fold_##datatype##_##op##_standby, sizeof(__VA_ARGS__::Element),  \
                            fold_few<__VA_ARGS__>)

#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == PEERCOLL_COPY_FAMILY
PEERCOLL_KERNEL(peercoll_copy, 1, copy)
PEERCOLL_STANDBY_KERNEL(peercoll_copy_standby, 1, copy)
PEERCOLL_BITS_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 1
PEERCOLL_FLOAT_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 2
PEERCOLL_HALF_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 3
PEERCOLL_INTEGER_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 4
PEERCOLL_ORDER_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 5
PEERCOLL_LOGICAL_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 6
PEERCOLL_COMPLEX_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif
#if !defined(PEERCOLL_KERNEL_FAMILY) || PEERCOLL_KERNEL_FAMILY == 7
PEERCOLL_PAIR_KERNELS(PEERCOLL_FOLD_KERNEL)
#endif

}  // namespace peercoll::device
