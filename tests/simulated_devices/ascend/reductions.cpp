// SPDX-License-Identifier: BSD-3-Clause
// aclrtReduceAsync(): which types each kind of device takes, and what comes out. The 310P's sums of integers stop at
// their limits, others' wrap; the smaller of a number and a NaN is the number; a NaN that a sum gives is the quiet one.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace peercoll::simulator::acl {

namespace {

bool one_of(std::initializer_list<int> list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

bool device_does(int kind, int type) {
    const std::string name = soc();
    const auto is = [&](const char* family) { return name.rfind(family, 0) == 0; };
    if (is("Ascend310P")) {
        return kind == ReduceSum && one_of({Float, Float16, Int16}, type);
    }
    if (is("Ascend310B")) {
        return one_of({Int8, Int16, Int32, Float16, Float}, type);
    }
    if (is("Ascend950")) {
        return one_of({Int8, Int16, Int32, UInt32, Float16, Float, BFloat16}, type);
    }
    if (is("Ascend910B") || is("Ascend910_93")) {
        return one_of({Int8, Int16, Int32, Float16, Float, BFloat16}, type);
    }
    return kind == ReduceSum && type == Float;  // the 910
}

std::size_t size_of(int type) {
    return one_of({Float, Int32, UInt32}, type) ? 4 : type == Int8 ? 1 : 2;
}

float sum_of(float a, float b) {
    const float sum = a + b;
    return std::isnan(sum) ? std::bit_cast<float>(0x7fc00000U) : sum;
}

template <typename Number>
Number sum_of(Number a, Number b) {
    const std::int64_t sum = std::int64_t{a} + std::int64_t{b};
    if (soc().rfind("Ascend310P", 0) == 0) {
        return static_cast<Number>(
            std::clamp<std::int64_t>(sum, std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max()));
    }
    return static_cast<Number>(static_cast<std::uint64_t>(sum));
}

template <typename Number>
Number chosen(Number a, Number b, bool smaller) {
    if constexpr (std::is_floating_point_v<Number>) {
        return smaller ? std::fmin(a, b) : std::fmax(a, b);
    } else {
        return smaller ? std::min(a, b) : std::max(a, b);
    }
}

template <typename Number>
void reduce(std::byte* to, const std::byte* from, std::uint64_t bytes, int kind) {
    for (std::uint64_t at = 0; at < bytes; at += sizeof(Number)) {
        Number a{};
        Number b{};
        std::memcpy(&a, to + at, sizeof a);
        std::memcpy(&b, from + at, sizeof b);
        const Number result = kind == ReduceSum ? sum_of(a, b) : chosen(a, b, kind == ReduceMin);
        std::memcpy(to + at, &result, sizeof result);
    }
}

float wide(std::uint16_t half, int type) {
    if (type == BFloat16) {
        return std::bit_cast<float>(std::uint32_t{half} << 16);
    }
    const int exponent = half >> 10 & 31;
    const float fraction = static_cast<float>(half & 1023) / 1024;
    float value = exponent == 0    ? std::ldexp(fraction, -14)
                  : exponent == 31 ? (fraction == 0 ? std::numeric_limits<float>::infinity()
                                                    : std::numeric_limits<float>::quiet_NaN())
                                   : std::ldexp(1 + fraction, exponent - 15);
    return (half & 0x8000) != 0 ? -value : value;
}

// The nearest half, by trying those around: slow, and as it is defined.
std::uint16_t narrow(float value, int type) {
    if (std::isnan(value)) {
        return type == BFloat16 ? 0x7fc0 : 0x7e00;
    }
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const float size = std::fabs(value);
    std::uint16_t low = 0;
    std::uint16_t high = type == BFloat16 ? 0x7f80 : 0x7c00;  // infinity
    while (high - low > 1) {
        const auto middle = static_cast<std::uint16_t>((low + high) / 2);
        (wide(middle, type) <= size ? low : high) = middle;
    }
    if (std::isinf(size)) {
        return static_cast<std::uint16_t>(sign | high);
    }
    // Infinity stands where the next number would be.
    const bool at_end = std::isinf(wide(high, type));
    const double step = double{wide(low, type)} - double{wide(static_cast<std::uint16_t>(low - 1), type)};
    const double above = at_end ? double{wide(low, type)} + step : double{wide(high, type)};
    const double to_low = double{size} - double{wide(low, type)};
    const double to_high = above - double{size};
    const bool up = to_high < to_low || (to_high == to_low && (low & 1) != 0);
    return static_cast<std::uint16_t>(sign | (up ? high : low));
}

void reduce_halves(std::byte* to, const std::byte* from, std::uint64_t bytes, int kind, int type) {
    for (std::uint64_t at = 0; at < bytes; at += 2) {
        std::uint16_t a = 0;
        std::uint16_t b = 0;
        std::memcpy(&a, to + at, sizeof a);
        std::memcpy(&b, from + at, sizeof b);
        const float left = wide(a, type);
        const float right = wide(b, type);
        const std::uint16_t result =
            narrow(kind == ReduceSum ? left + right : chosen(left, right, kind == ReduceMin), type);
        std::memcpy(to + at, &result, sizeof result);
    }
}

void reduce(std::byte* to, const std::byte* from, std::uint64_t bytes, int kind, int type) {
    switch (type) {
        case Float:
            return reduce<float>(to, from, bytes, kind);
        case Int8:
            return reduce<std::int8_t>(to, from, bytes, kind);
        case Int16:
            return reduce<std::int16_t>(to, from, bytes, kind);
        case Int32:
            return reduce<std::int32_t>(to, from, bytes, kind);
        case UInt32:
            return reduce<std::uint32_t>(to, from, bytes, kind);
        default:
            return reduce_halves(to, from, bytes, kind, type);
    }
}

// Whether the memory is on the device, or was mapped for it.
bool is_on(const Context& context, const void* address, std::uint64_t bytes) {
    const auto mapping = find_mapping(address);
    return mapping && !mapping->is_host() && mapping->device == context.of_node &&
           number(address) + bytes <= mapping->end();
}

}  // namespace

extern "C" {

aclError aclrtReduceAsync(void* to, const void* from, std::uint64_t bytes, int kind, int type, aclrtStream stream,
                          void* reserve) {
    note_call(Call::Reduction);
    return call_on_stream(stream, [&](Context& context, const std::shared_ptr<Stream>& on) -> aclError {
        const bool known = one_of({ReduceSum, ReduceMax, ReduceMin}, kind) &&
                           one_of({Float, Float16, Int8, Int32, Int16, UInt32, BFloat16}, type);
        if (to == nullptr || from == nullptr || reserve != nullptr || !known) {
            return ACL_ERROR_INVALID_PARAM;
        }
        if (!device_does(kind, type)) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        if (number(to) % size_of(type) != 0 || number(from) % size_of(type) != 0) {
            return ACL_ERROR_RT_ADDR_UNALIGNED;
        }
        if (bytes % size_of(type) != 0 || !is_on(context, to, bytes) || !is_on(context, from, bytes)) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        submit(on, [execution = context.execution, to = number(to), from = number(from), bytes, kind, type] {
            const Resolved target = resolve_for_copy(*execution, to, bytes, true);
            const Resolved source = resolve_for_copy(*execution, from, bytes, false);
            if (bytes != 0 && (target.address == nullptr || source.address == nullptr)) {
                return Result::IllegalAddress;
            }
            reduce(static_cast<std::byte*>(target.address), static_cast<const std::byte*>(source.address), bytes, kind,
                   type);
            return Result::Ok;
        });
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
