// SPDX-License-Identifier: BSD-3-Clause
// Integers and truth values. Sums and products wrap: they are computed unsigned.
#pragma once

#include "collectives/reduction/device/kernel/numbers.hpp"

namespace peercoll::device {

// 1u * keeps the arithmetic of the short types unsigned.
struct WrappingSum {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>(1u * a + b);
    }
};
struct WrappingProd {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>(1u * a * b);
    }
};
// Also of floating point numbers: the later one of two that do not compare.
struct Min {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return a > b ? a : b;
    }
};
struct BitAnd {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct BitOr {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct BitXor {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
// Any nonzero number is true; the result is 0 or 1.
struct LogicalAnd {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>((a != 0) & (b != 0));
    }
};
struct LogicalOr {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>((a != 0) | (b != 0));
    }
};
struct LogicalXor {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return static_cast<T>((a != 0) != (b != 0));
    }
};

template <class T, class Op>
struct Integer : Scalar<T> {
    PEERCOLL_DEVICE T combine(T a, T b) { return Op::apply(a, b); }
};

// Bits are the same in elements of any size: bytes at the edges, 64 bits at a time in vectors.
template <class Op>
struct Bits : Integer<UInt8, Op> {};
template <class Op>
struct InVectors<Bits<Op>> {
    using Kernel = Integer<UInt64, Op>;
};

}  // namespace peercoll::device
