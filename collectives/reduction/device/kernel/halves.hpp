// SPDX-License-Identifier: BSD-3-Clause
// FLOAT16 and BFLOAT16: widened to float32, folded there, rounded to nearest even once for each block of the plan. A
// NaN result is the quiet one without sign and payload, for minimum and maximum too.
#pragma once

#include "collectives/reduction/device/kernel/floats.hpp"

namespace peercoll::device {

struct BFloat16 {
    PEERCOLL_DEVICE float widen(UInt16 half) { return bits_as<float>(static_cast<UInt32>(half) << 16); }
    PEERCOLL_DEVICE UInt16 narrow(float value) {
        const UInt32 bits = bits_as<UInt32>(value);
        return static_cast<UInt16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    }
    static constexpr UInt16 nan = 0x7fc0;
};

struct Float16 {
#if PEERCOLL_HAS_HALF_CONVERSIONS
    PEERCOLL_DEVICE float widen(UInt16 half) {
        return half_to_float(half);
    }
    PEERCOLL_DEVICE UInt16 narrow(float value) {
        return float_to_half(value);
    }
#else
    // Exponent and fraction are moved to where float32 has them; the exponent is then 112 too small. Multiplying by
    // 2^112 mends that, and normalises subnormal numbers too.
    PEERCOLL_DEVICE float widen(UInt16 half) {
        const UInt32 magnitude = half & 0x7fffu;
        const UInt32 sign = (half & 0x8000u) << 16;
        if (magnitude >= 0x7c00u) {
            return bits_as<float>(sign | 0x7f800000u | (magnitude << 13));
        }
        return bits_as<float>(sign | bits_as<UInt32>(bits_as<float>(magnitude << 13) * 0x1p112f));
    }
    // For everything but NaNs. The last bit that is kept is worth 2^(exponent - 10), at least 2^-24. Adding a number
    // whose own last bit is worth that much makes float32 round there, to nearest even, and subtracting it is exact.
    PEERCOLL_DEVICE UInt16 narrow(float value) {
        const UInt32 bits = bits_as<UInt32>(value);
        const UInt32 sign = (bits >> 16) & 0x8000u;
        const float magnitude = bits_as<float>(bits & 0x7fffffffu);
        if (magnitude >= 65520.0f) {
            return static_cast<UInt16>(sign | 0x7c00u);
        }
        const UInt32 exponent = (bits >> 23) & 0xffu;
        const UInt32 least = 127 - 14;
        const UInt32 rounding_exponent = (exponent < least ? least : exponent) + 13;
        const float rounder = bits_as<float>(rounding_exponent << 23);
        const float rounded = (magnitude + rounder) - rounder;
        // 2^-112 takes the exponent back to where float16 has it; subnormal numbers become subnormal.
        return static_cast<UInt16>(sign | (bits_as<UInt32>(rounded * 0x1p-112f) >> 13));
    }
#endif
    static constexpr UInt16 nan = 0x7e00;
};

template <class Format, class Op>
struct Half {
    using Element = UInt16;
    using Part = UInt16;
    using Value = float;
    PEERCOLL_DEVICE float unpack(UInt16 element) { return Format::widen(element); }
    PEERCOLL_DEVICE UInt16 pack(float value) { return value == value ? Format::narrow(value) : Format::nan; }
    PEERCOLL_DEVICE float combine(float a, float b) { return Op::apply(a, b); }
};

}  // namespace peercoll::device
