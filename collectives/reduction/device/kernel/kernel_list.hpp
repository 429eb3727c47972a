// SPDX-License-Identifier: BSD-3-Clause
// All kernels, by families: KERNEL(family, datatype, operation, the same in lower case, arithmetic...). Operations that
// do not see a datatype's sign, or its size, are listed once: fold_kernel_name() knows. The copy is not in the list.
#pragma once

#define PEERCOLL_COPY_FAMILY 0

#define PEERCOLL_BITS_KERNELS(KERNEL)               \
    KERNEL(0, BYTE, BAND, byte, band, Bits<BitAnd>) \
    KERNEL(0, BYTE, BOR, byte, bor, Bits<BitOr>)    \
    KERNEL(0, BYTE, BXOR, byte, bxor, Bits<BitXor>)

#define PEERCOLL_FLOAT_KERNELS(KERNEL)                              \
    KERNEL(1, FLOAT32, SUM, float32, sum, Computed<float, Sum>)     \
    KERNEL(1, FLOAT32, PROD, float32, prod, Computed<float, Prod>)  \
    KERNEL(1, FLOAT32, MIN, float32, min, Chosen<float, Min>)       \
    KERNEL(1, FLOAT32, MAX, float32, max, Chosen<float, Max>)       \
    KERNEL(1, FLOAT64, SUM, float64, sum, Computed<double, Sum>)    \
    KERNEL(1, FLOAT64, PROD, float64, prod, Computed<double, Prod>) \
    KERNEL(1, FLOAT64, MIN, float64, min, Chosen<double, Min>)      \
    KERNEL(1, FLOAT64, MAX, float64, max, Chosen<double, Max>)

#define PEERCOLL_HALF_KERNELS(KERNEL)                               \
    KERNEL(2, FLOAT16, SUM, float16, sum, Half<Float16, Sum>)       \
    KERNEL(2, FLOAT16, PROD, float16, prod, Half<Float16, Prod>)    \
    KERNEL(2, FLOAT16, MIN, float16, min, Half<Float16, Min>)       \
    KERNEL(2, FLOAT16, MAX, float16, max, Half<Float16, Max>)       \
    KERNEL(2, BFLOAT16, SUM, bfloat16, sum, Half<BFloat16, Sum>)    \
    KERNEL(2, BFLOAT16, PROD, bfloat16, prod, Half<BFloat16, Prod>) \
    KERNEL(2, BFLOAT16, MIN, bfloat16, min, Half<BFloat16, Min>)    \
    KERNEL(2, BFLOAT16, MAX, bfloat16, max, Half<BFloat16, Max>)

#define PEERCOLL_INTEGER_KERNELS(KERNEL)                                 \
    KERNEL(3, UINT8, SUM, uint8, sum, Integer<UInt8, WrappingSum>)       \
    KERNEL(3, UINT8, PROD, uint8, prod, Integer<UInt8, WrappingProd>)    \
    KERNEL(3, UINT16, SUM, uint16, sum, Integer<UInt16, WrappingSum>)    \
    KERNEL(3, UINT16, PROD, uint16, prod, Integer<UInt16, WrappingProd>) \
    KERNEL(3, UINT32, SUM, uint32, sum, Integer<UInt32, WrappingSum>)    \
    KERNEL(3, UINT32, PROD, uint32, prod, Integer<UInt32, WrappingProd>) \
    KERNEL(3, UINT64, SUM, uint64, sum, Integer<UInt64, WrappingSum>)    \
    KERNEL(3, UINT64, PROD, uint64, prod, Integer<UInt64, WrappingProd>)

#define PEERCOLL_ORDER_KERNELS(KERNEL)                        \
    KERNEL(4, INT8, MIN, int8, min, Integer<Int8, Min>)       \
    KERNEL(4, INT8, MAX, int8, max, Integer<Int8, Max>)       \
    KERNEL(4, UINT8, MIN, uint8, min, Integer<UInt8, Min>)    \
    KERNEL(4, UINT8, MAX, uint8, max, Integer<UInt8, Max>)    \
    KERNEL(4, INT16, MIN, int16, min, Integer<Int16, Min>)    \
    KERNEL(4, INT16, MAX, int16, max, Integer<Int16, Max>)    \
    KERNEL(4, UINT16, MIN, uint16, min, Integer<UInt16, Min>) \
    KERNEL(4, UINT16, MAX, uint16, max, Integer<UInt16, Max>) \
    KERNEL(4, INT32, MIN, int32, min, Integer<Int32, Min>)    \
    KERNEL(4, INT32, MAX, int32, max, Integer<Int32, Max>)    \
    KERNEL(4, UINT32, MIN, uint32, min, Integer<UInt32, Min>) \
    KERNEL(4, UINT32, MAX, uint32, max, Integer<UInt32, Max>) \
    KERNEL(4, INT64, MIN, int64, min, Integer<Int64, Min>)    \
    KERNEL(4, INT64, MAX, int64, max, Integer<Int64, Max>)    \
    KERNEL(4, UINT64, MIN, uint64, min, Integer<UInt64, Min>) \
    KERNEL(4, UINT64, MAX, uint64, max, Integer<UInt64, Max>)

#define PEERCOLL_LOGICAL_KERNELS(KERNEL)                                     \
    KERNEL(5, LOGICAL8, LAND, logical8, land, Integer<UInt8, LogicalAnd>)    \
    KERNEL(5, LOGICAL8, LOR, logical8, lor, Integer<UInt8, LogicalOr>)       \
    KERNEL(5, LOGICAL8, LXOR, logical8, lxor, Integer<UInt8, LogicalXor>)    \
    KERNEL(5, LOGICAL16, LAND, logical16, land, Integer<UInt16, LogicalAnd>) \
    KERNEL(5, LOGICAL16, LOR, logical16, lor, Integer<UInt16, LogicalOr>)    \
    KERNEL(5, LOGICAL16, LXOR, logical16, lxor, Integer<UInt16, LogicalXor>) \
    KERNEL(5, LOGICAL32, LAND, logical32, land, Integer<UInt32, LogicalAnd>) \
    KERNEL(5, LOGICAL32, LOR, logical32, lor, Integer<UInt32, LogicalOr>)    \
    KERNEL(5, LOGICAL32, LXOR, logical32, lxor, Integer<UInt32, LogicalXor>) \
    KERNEL(5, LOGICAL64, LAND, logical64, land, Integer<UInt64, LogicalAnd>) \
    KERNEL(5, LOGICAL64, LOR, logical64, lor, Integer<UInt64, LogicalOr>)    \
    KERNEL(5, LOGICAL64, LXOR, logical64, lxor, Integer<UInt64, LogicalXor>)

#define PEERCOLL_COMPLEX_KERNELS(KERNEL)                                        \
    KERNEL(6, COMPLEX_FLOAT32, SUM, complex_float32, sum, ComplexSum<float>)    \
    KERNEL(6, COMPLEX_FLOAT32, PROD, complex_float32, prod, ComplexProd<float>) \
    KERNEL(6, COMPLEX_FLOAT64, SUM, complex_float64, sum, ComplexSum<double>)   \
    KERNEL(6, COMPLEX_FLOAT64, PROD, complex_float64, prod, ComplexProd<double>)

#define PEERCOLL_PAIR_KERNELS_OF(KERNEL, D, d, V, I)     \
    KERNEL(7, D, MINLOC, d, minloc, Pair<V, I, Smaller>) \
    KERNEL(7, D, MAXLOC, d, maxloc, Pair<V, I, Larger>)
#define PEERCOLL_PAIR_KERNELS(KERNEL)                                                          \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_FLOAT32_INT32, pair_float32_int32, float, Int32)     \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_FLOAT64_INT32, pair_float64_int32, double, Int32)    \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_INT64_INT32, pair_int64_int32, Int64, Int32)         \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_INT32_INT32, pair_int32_int32, Int32, Int32)         \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_INT16_INT32, pair_int16_int32, Int16, Int32)         \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_FLOAT32_FLOAT32, pair_float32_float32, float, float) \
    PEERCOLL_PAIR_KERNELS_OF(KERNEL, PAIR_FLOAT64_FLOAT64, pair_float64_float64, double, double)
