// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/reduction/half_reference.hpp"

#include <cmath>
#include <limits>

namespace peercoll::test {

double half_value(HalfFormat format, std::uint16_t bits) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const int exponent = (bits >> format.fraction_bits) & ((1 << format.exponent_bits) - 1);
    const int fraction = bits & ((1 << format.fraction_bits) - 1);
    double magnitude = 0;
    if (exponent == (1 << format.exponent_bits) - 1) {
        magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
        magnitude = std::ldexp(fraction, 1 - bias - format.fraction_bits);
    } else {
        magnitude = std::ldexp(fraction + (1 << format.fraction_bits), exponent - bias - format.fraction_bits);
    }
    return std::copysign(magnitude, bits & 0x8000 ? -1.0 : 1.0);
}

std::uint16_t nearest_half(HalfFormat format, double value) {
    const std::uint16_t infinity =
        static_cast<std::uint16_t>(((1 << format.exponent_bits) - 1) << format.fraction_bits);
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>(infinity | 1 << (format.fraction_bits - 1));
    }
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    // Positive numbers are in the order of their bits: find the last one that is not above.
    std::uint16_t below = 0;
    for (std::uint16_t step = 0x4000; step != 0; step = static_cast<std::uint16_t>(step / 2)) {
        const std::uint16_t candidate = static_cast<std::uint16_t>(below + step);
        if (candidate < infinity && half_value(format, candidate) <= magnitude) {
            below = candidate;
        }
    }
    const std::uint16_t above = static_cast<std::uint16_t>(below + 1);
    const double low = half_value(format, below);
    // Infinity stands where the next number would be.
    const double high = above == infinity ? 2 * low - half_value(format, static_cast<std::uint16_t>(below - 1))
                                          : half_value(format, above);
    const double to_low = magnitude - low;
    const double to_high = high - magnitude;
    const bool up = to_high < to_low || (to_high == to_low && below % 2 == 1);
    return static_cast<std::uint16_t>(sign | (up ? above : below));
}

}  // namespace peercoll::test
