// SPDX-License-Identifier: BSD-3-Clause
// FLOAT32, FLOAT64 and their complex types. A NaN that a sum or a product gives is stored as the quiet one without sign
// and payload; minimum and maximum choose one input bit for bit.
#pragma once

#include "collectives/reduction/device/kernel/integers.hpp"

namespace peercoll::device {

PEERCOLL_DEVICE float with_one_nan(float value) {
    return value == value ? value : bits_as<float>(0x7fc00000u);
}
PEERCOLL_DEVICE double with_one_nan(double value) {
    return value == value ? value : bits_as<double>(0x7ff8000000000000ull);
}

struct Sum {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return add(a, b);
    }
};
struct Prod {
    template <class T>
    PEERCOLL_DEVICE T apply(T a, T b) {
        return multiply(a, b);
    }
};

// For Sum and Prod.
template <class T, class Op>
struct Computed : Scalar<T> {
    PEERCOLL_DEVICE T combine(T a, T b) { return Op::apply(a, b); }
    PEERCOLL_DEVICE T pack(T value) { return with_one_nan(value); }
};
// For Min and Max.
template <class T, class Op>
struct Chosen : Scalar<T> {
    PEERCOLL_DEVICE T combine(T a, T b) { return Op::apply(a, b); }
};

template <class T>
struct Complex {
    T real;
    T imaginary;
};

template <class T>
struct ComplexNumber {
    using Element = Complex<T>;
    using Part = T;
    using Value = Complex<T>;
    PEERCOLL_DEVICE Value unpack(Element element) { return element; }
    PEERCOLL_DEVICE Element pack(Value value) { return {with_one_nan(value.real), with_one_nan(value.imaginary)}; }
};
template <class T>
struct ComplexSum : ComplexNumber<T> {
    PEERCOLL_DEVICE Complex<T> combine(Complex<T> a, Complex<T> b) {
        return {add(a.real, b.real), add(a.imaginary, b.imaginary)};
    }
};
// The plain formula, each product and sum rounded.
template <class T>
struct ComplexProd : ComplexNumber<T> {
    PEERCOLL_DEVICE Complex<T> combine(Complex<T> a, Complex<T> b) {
        return {add(multiply(a.real, b.real), -multiply(a.imaginary, b.imaginary)),
                add(multiply(a.real, b.imaginary), multiply(a.imaginary, b.real))};
    }
};

}  // namespace peercoll::device
