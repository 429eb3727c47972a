// SPDX-License-Identifier: BSD-3-Clause
// Integers: SUM, PROD, MIN, MAX and the bitwise operations. SUM and PROD wrap: they are computed unsigned, where that
// is defined, and give the same bits for signed types.
#include <cstdint>

#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/fold_loops.hpp"

namespace peercoll::kernels {
namespace {

// 1u * keeps the arithmetic of the short types unsigned; they would be promoted to int.
struct Sum {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(1u * a + b);
    }
};
struct Prod {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(1u * a * b);
    }
};
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};
struct BitAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct BitOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct BitXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};

template <class T, class Op>
struct IntegerKernel {
    using Value = T;
    static constexpr std::size_t element_bytes = sizeof(T);
    static T load(const void* base, std::size_t i) { return load_as<T>(base, i * element_bytes); }
    static T combine(T a, T b) { return Op::apply(a, b); }
    static void store(void* base, std::size_t i, T value) { store_as(base, i * element_bytes, value); }
};

// For operations that do not look at the sign.
template <class Op>
FoldFunction by_size(peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_INT8:
        case PEERCOLL_UINT8:
        case PEERCOLL_BYTE:
            return fold<IntegerKernel<std::uint8_t, Op>>;
        case PEERCOLL_INT16:
        case PEERCOLL_UINT16:
            return fold<IntegerKernel<std::uint16_t, Op>>;
        case PEERCOLL_INT32:
        case PEERCOLL_UINT32:
            return fold<IntegerKernel<std::uint32_t, Op>>;
        case PEERCOLL_INT64:
        case PEERCOLL_UINT64:
            return fold<IntegerKernel<std::uint64_t, Op>>;
        default:
            return nullptr;
    }
}

template <class Op>
FoldFunction by_size_and_sign(peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_INT8:
            return fold<IntegerKernel<std::int8_t, Op>>;
        case PEERCOLL_INT16:
            return fold<IntegerKernel<std::int16_t, Op>>;
        case PEERCOLL_INT32:
            return fold<IntegerKernel<std::int32_t, Op>>;
        case PEERCOLL_INT64:
            return fold<IntegerKernel<std::int64_t, Op>>;
        default:
            return by_size<Op>(datatype);
    }
}

}  // namespace

namespace PEERCOLL_KERNEL_SET {

FoldFunction find_integer_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (op) {
        case PEERCOLL_SUM:
            return by_size<Sum>(datatype);
        case PEERCOLL_PROD:
            return by_size<Prod>(datatype);
        case PEERCOLL_MIN:
            return by_size_and_sign<Min>(datatype);
        case PEERCOLL_MAX:
            return by_size_and_sign<Max>(datatype);
        case PEERCOLL_BAND:
            return by_size<BitAnd>(datatype);
        case PEERCOLL_BOR:
            return by_size<BitOr>(datatype);
        case PEERCOLL_BXOR:
            return by_size<BitXor>(datatype);
        default:
            return nullptr;
    }
}

}  // namespace PEERCOLL_KERNEL_SET
}  // namespace peercoll::kernels
