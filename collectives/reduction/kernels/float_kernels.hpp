// SPDX-License-Identifier: BSD-3-Clause
// Kernels of real and complex floating point numbers, for any width.
//
// NaN: processors disagree on which NaN a sum of two NaNs is, and the compiler may swap the operands. So a NaN that SUM
// or PROD stores is always the same one: quiet, positive, no payload.
// MIN, MAX: exactly `a < b ? a : b` and `a > b ? a : b`, a being the fold of the earlier inputs. So if either is a NaN,
// and for zeros of different sign, the result is b, the later input, bit for bit.
#pragma once

#include <cstdint>

#include "collectives/reduction/kernels/fold_loops.hpp"

namespace peercoll::kernels {
namespace {

template <class T>
inline T with_one_nan(T value) {
    // NOLINTNEXTLINE(misc-redundant-expression): only a NaN differs from itself
    return value == value ? value : static_cast<T>(__builtin_nanf(""));
}

// The bytes of a type in memory: those of x87 numbers end in padding, which a result has as zeros.
template <class T>
inline void store_float(void* base, std::size_t byte, T value) {
    store_as(base, byte, value);
#if defined(__x86_64__)
    if constexpr (sizeof(T) == 16 && __is_same(T, long double)) {
        __builtin_memset(static_cast<unsigned char*>(base) + byte + 10, 0, 6);
    }
#endif
}

template <class T>
struct FloatElement {
    using Value = T;
    static constexpr std::size_t element_bytes = sizeof(T);
    static T load(const void* base, std::size_t i) { return load_as<T>(base, i * element_bytes); }
};

template <class T>
struct FloatSum : FloatElement<T> {
    static T combine(T a, T b) { return a + b; }
    static void store(void* base, std::size_t i, T value) { store_float(base, i * sizeof(T), with_one_nan(value)); }
};

template <class T>
struct FloatProd : FloatElement<T> {
    static T combine(T a, T b) { return a * b; }
    static void store(void* base, std::size_t i, T value) { store_float(base, i * sizeof(T), with_one_nan(value)); }
};

template <class T>
struct FloatMin : FloatElement<T> {
    static T combine(T a, T b) { return a < b ? a : b; }
    static void store(void* base, std::size_t i, T value) { store_float(base, i * sizeof(T), value); }
};

template <class T>
struct FloatMax : FloatElement<T> {
    static T combine(T a, T b) { return a > b ? a : b; }
    static void store(void* base, std::size_t i, T value) { store_float(base, i * sizeof(T), value); }
};

template <class T>
struct Complex {
    T real;
    T imaginary;
};

template <class T>
struct ComplexElement {
    using Value = Complex<T>;
    static constexpr std::size_t element_bytes = 2 * sizeof(T);
    static Value load(const void* base, std::size_t i) {
        return {load_as<T>(base, i * element_bytes), load_as<T>(base, i * element_bytes + sizeof(T))};
    }
    static void store(void* base, std::size_t i, Value value) {
        store_float(base, i * element_bytes, with_one_nan(value.real));
        store_float(base, i * element_bytes + sizeof(T), with_one_nan(value.imaginary));
    }
};

template <class T>
struct ComplexSum : ComplexElement<T> {
    static Complex<T> combine(Complex<T> a, Complex<T> b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
};

// -x as a change of its sign bit, which no compiler pass takes for arithmetic.
inline float flip_sign(float x) {
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) ^ 0x80000000u);
}
inline double flip_sign(double x) {
    return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, x) ^ (std::uint64_t{1} << 63));
}
template <class T>
inline T flip_sign(T x) {
    return -x;
}

// The plain formula, each product and sum rounded; no rescue of infinities as in C's Annex G. Written ac + (-bd), which
// is ac - bd: GCC 12 makes fused vfmaddsub of a pair of - and + in vector code, -ffp-contract=off notwithstanding.
template <class T>
struct ComplexProd : ComplexElement<T> {
    static Complex<T> combine(Complex<T> a, Complex<T> b) {
        return {a.real * b.real + flip_sign(a.imaginary * b.imaginary), a.real * b.imaginary + a.imaginary * b.real};
    }
};

template <class T>
FoldFunction find_real(peercoll_op_t op) {
    switch (op) {
        case PEERCOLL_SUM:
            return fold<FloatSum<T>>;
        case PEERCOLL_PROD:
            return fold<FloatProd<T>>;
        case PEERCOLL_MIN:
            return fold<FloatMin<T>>;
        case PEERCOLL_MAX:
            return fold<FloatMax<T>>;
        default:
            return nullptr;
    }
}

template <class T>
FoldFunction find_complex(peercoll_op_t op) {
    switch (op) {
        case PEERCOLL_SUM:
            return fold<ComplexSum<T>>;
        case PEERCOLL_PROD:
            return fold<ComplexProd<T>>;
        default:
            return nullptr;
    }
}

}  // namespace
}  // namespace peercoll::kernels
