// SPDX-License-Identifier: BSD-3-Clause
// The C++ face of each datatype in these tests, with arithmetic of the tests' own: wide where a result must be exact,
// the type's own where the documented rounding is checked.
#pragma once

#include <peercoll/peercoll.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace peercoll::test {

struct Byte {
    std::uint8_t bits;
};
struct Bool {
    std::uint8_t bits;
};
template <class Bits>
struct Logical {
    Bits bits;
};
// IEEE binary16 (11, -14, 5 exponent bits) and bfloat16 (8, -126, 8 exponent bits).
template <int significand_bits, int min_exponent>
struct SmallFloat {
    std::uint16_t bits;
};
using Half = SmallFloat<11, -14>;
using Bfloat = SmallFloat<8, -126>;
template <class Part>
struct Complex {
    Part re;
    Part im;
};
template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

template <class T>
struct TypeTag {
    using type = T;
};

// Calls `function` with the tag of the datatype's C++ type.
template <class Function>
auto with_element_type(peercoll_datatype_t datatype, Function function) {
    switch (datatype) {
        case PEERCOLL_INT8:
            return function(TypeTag<std::int8_t>{});
        case PEERCOLL_UINT8:
            return function(TypeTag<std::uint8_t>{});
        case PEERCOLL_INT16:
            return function(TypeTag<std::int16_t>{});
        case PEERCOLL_UINT16:
            return function(TypeTag<std::uint16_t>{});
        case PEERCOLL_INT32:
            return function(TypeTag<std::int32_t>{});
        case PEERCOLL_UINT32:
            return function(TypeTag<std::uint32_t>{});
        case PEERCOLL_INT64:
            return function(TypeTag<std::int64_t>{});
        case PEERCOLL_UINT64:
            return function(TypeTag<std::uint64_t>{});
        case PEERCOLL_BYTE:
            return function(TypeTag<Byte>{});
        case PEERCOLL_FLOAT16:
            return function(TypeTag<Half>{});
        case PEERCOLL_BFLOAT16:
            return function(TypeTag<Bfloat>{});
        case PEERCOLL_FLOAT32:
            return function(TypeTag<float>{});
        case PEERCOLL_FLOAT64:
            return function(TypeTag<double>{});
        case PEERCOLL_FLOAT80:
            return function(TypeTag<long double>{});
        case PEERCOLL_FLOAT128:
            return function(TypeTag<__float128>{});
        case PEERCOLL_COMPLEX_FLOAT32:
            return function(TypeTag<Complex<float>>{});
        case PEERCOLL_COMPLEX_FLOAT64:
            return function(TypeTag<Complex<double>>{});
        case PEERCOLL_COMPLEX_FLOAT80:
            return function(TypeTag<Complex<long double>>{});
        case PEERCOLL_COMPLEX_FLOAT128:
            return function(TypeTag<Complex<__float128>>{});
        case PEERCOLL_BOOL:
            return function(TypeTag<Bool>{});
        case PEERCOLL_LOGICAL8:
            return function(TypeTag<Logical<std::uint8_t>>{});
        case PEERCOLL_LOGICAL16:
            return function(TypeTag<Logical<std::uint16_t>>{});
        case PEERCOLL_LOGICAL32:
            return function(TypeTag<Logical<std::uint32_t>>{});
        case PEERCOLL_LOGICAL64:
            return function(TypeTag<Logical<std::uint64_t>>{});
        case PEERCOLL_PAIR_FLOAT32_INT32:
            return function(TypeTag<Pair<float, std::int32_t>>{});
        case PEERCOLL_PAIR_FLOAT64_INT32:
            return function(TypeTag<Pair<double, std::int32_t>>{});
        case PEERCOLL_PAIR_INT64_INT32:
            return function(TypeTag<Pair<std::int64_t, std::int32_t>>{});
        case PEERCOLL_PAIR_INT32_INT32:
            return function(TypeTag<Pair<std::int32_t, std::int32_t>>{});
        case PEERCOLL_PAIR_INT16_INT32:
            return function(TypeTag<Pair<std::int16_t, std::int32_t>>{});
        case PEERCOLL_PAIR_FLOAT80_INT32:
            return function(TypeTag<Pair<long double, std::int32_t>>{});
        case PEERCOLL_PAIR_FLOAT32_FLOAT32:
            return function(TypeTag<Pair<float, float>>{});
        case PEERCOLL_PAIR_FLOAT64_FLOAT64:
            return function(TypeTag<Pair<double, double>>{});
        default:
            throw std::invalid_argument("a value that is no datatype");
    }
}

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                 std::is_same_v<T, long double> || std::is_same_v<T, __float128>;
template <class T>
inline constexpr bool is_small_float = false;
template <int bits, int exponent>
inline constexpr bool is_small_float<SmallFloat<bits, exponent>> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class Part>
inline constexpr bool is_complex<Complex<Part>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class Value, class Index>
inline constexpr bool is_pair<Pair<Value, Index>> = true;
template <class T>
inline constexpr bool is_logical = std::is_same_v<T, Bool>;
template <class Bits>
inline constexpr bool is_logical<Logical<Bits>> = true;

// Exact: every value of a small float is a float.
template <int significand_bits, int min_exponent>
float widened(SmallFloat<significand_bits, min_exponent> small) {
    constexpr int stored = significand_bits - 1;
    const int exponent_field = (small.bits & 0x7fff) >> stored;
    const int fraction = small.bits & ((1 << stored) - 1);
    const double magnitude = exponent_field == 0
                                 ? std::ldexp(fraction, min_exponent - stored)
                                 : std::ldexp(fraction + (1 << stored), exponent_field - 1 + min_exponent - stored);
    return static_cast<float>((small.bits & 0x8000) != 0 ? -magnitude : magnitude);
}

// To nearest, ties to even. For finite values that do not overflow, which is what the tests use.
template <class Small>
struct Rounding;
template <int significand_bits, int min_exponent>
struct Rounding<SmallFloat<significand_bits, min_exponent>> {
    static SmallFloat<significand_bits, min_exponent> rounded(float value) {
        constexpr int stored = significand_bits - 1;
        const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
        const double magnitude = std::fabs(static_cast<double>(value));
        if (magnitude == 0) {
            return {sign};
        }
        const int exponent = std::max(std::ilogb(magnitude), min_exponent);
        // The fraction as an integer, with the hidden bit; rounding may carry into the exponent field, as it should.
        const auto integer = static_cast<int>(std::nearbyint(std::ldexp(magnitude, stored - exponent)));
        const int field = ((exponent - min_exponent) << stored) + integer;
        return {static_cast<std::uint16_t>(sign | field)};
    }
};

}  // namespace peercoll::test
