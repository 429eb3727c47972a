// SPDX-License-Identifier: BSD-3-Clause
// What most behaviours stand on: calls that only prepare, and data that tell one place and one writer from another.
#pragma once

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace peercoll::conformance {

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;

// Ends the behaviour unless `code` is 0, which every vendor calls success. What fails here is not what a behaviour
// looks at.
template <typename Code>
void need(std::string_view call, Code code) {
    if (+code == 0) return;
    throw std::runtime_error(std::string(call) + ", which was to prepare, answered " + std::to_string(+code));
}

// seed, seed + 1, ...
inline std::vector<std::uint64_t> words_from(std::uint64_t seed, std::size_t count) {
    std::vector<std::uint64_t> words(count);
    std::iota(words.begin(), words.end(), seed);
    return words;
}

}  // namespace peercoll::conformance
