// SPDX-License-Identifier: BSD-3-Clause
// Numbers that remember how they were computed: a fold that is neither associative nor commutative, so that two results
// are equal only if the same expression was evaluated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::test {

// What rank or node `who` contributes at an element.
inline std::uint64_t leaf(int who, std::size_t element) {
    return (static_cast<std::uint64_t>(who) + 1) * 0x9E3779B97F4A7C15u ^ (element + 1) * 0xC2B2AE3D27D4EB4Fu;
}

inline std::uint64_t combined(std::uint64_t left, std::uint64_t right) {
    std::uint64_t value = left * 0xFF51AFD7ED558CCDu + (right ^ right >> 29) * 0xC4CEB9FE1A85EC53u + 1;
    return value ^ value >> 32;
}

// A FoldFunction.
inline void fold_expressions(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = static_cast<const std::uint64_t*>(inputs[0])[i];
        for (std::size_t k = 1; k < n_inputs; ++k)
            value = combined(value, static_cast<const std::uint64_t*>(inputs[k])[i]);
        static_cast<std::uint64_t*>(out)[i] = value;
    }
}

// The tree over nodes [0, nodes) written out once more, from its definition: pair the first ones until a power of two
// is left, then fold neighbours until one value is left.
template <typename Value>
std::uint64_t tree_value(int nodes, Value&& value_of_node) {
    int power = 1;
    while (2 * power <= nodes) power *= 2;
    std::uint64_t values[4096];
    int node = 0;
    for (int i = 0; i < power; ++i) {
        values[i] = value_of_node(node++);
        if (i < nodes - power) values[i] = combined(values[i], value_of_node(node++));
    }
    for (; power > 1; power /= 2)
        for (int i = 0; i < power / 2; ++i) values[i] = combined(values[2 * i], values[2 * i + 1]);
    return values[0];
}

}  // namespace peercoll::test
