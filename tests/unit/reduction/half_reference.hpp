// SPDX-License-Identifier: BSD-3-Clause
// The half types by their definition, slowly: a number's value from its fields, and rounding by search among all
// numbers.
#pragma once

#include <cstdint>

namespace peercoll::test {

struct HalfFormat {
    int exponent_bits;
    int fraction_bits;
};
constexpr HalfFormat kFloat16 = {5, 10};
constexpr HalfFormat kBFloat16 = {8, 7};

// The value of the 16 bits; exact.
double half_value(HalfFormat format, std::uint16_t bits);

// The nearest number, the even one of two; infinity from half a unit above the largest on. A NaN becomes the quiet one
// without sign and payload.
std::uint16_t nearest_half(HalfFormat format, double value);

}  // namespace peercoll::test
