// SPDX-License-Identifier: BSD-3-Clause
// The sizes of messages that the tests use: one list of thresholds, and what lies around each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace peercoll::test {

// Bytes at which an algorithm, a buffer or a slice ends somewhere: one packet and one cache line of payload, the most
// that packets take, pages, segment slots, the choices of the selector. Ends of memories that each type and operation
// passes.
inline constexpr std::array<std::size_t, 8> small_thresholds{56, 64, 128, 512, 1024, 1064, 4096, 8192};
// Passed by a few types that stand for all: beyond here an algorithm does not care for the type.
inline constexpr std::array<std::size_t, 8> large_thresholds{16U << 10,  32U << 10,  64U << 10, 128U << 10,
                                                             256U << 10, 512U << 10, 1U << 20,  3U << 20};
inline constexpr std::size_t largest_message = (3U << 20) + 4096;

// Counts of elements just below, at and above each threshold.
template <std::size_t n>
std::vector<std::size_t> counts_around(const std::array<std::size_t, n>& thresholds, std::size_t element_bytes) {
    std::vector<std::size_t> counts;
    for (const std::size_t bytes : thresholds) {
        const std::size_t at = bytes / element_bytes;
        counts.insert(counts.end(), {at > 0 ? at - 1 : 0, at, at + 1});
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

inline std::vector<std::size_t> small_counts(std::size_t element_bytes) {
    std::vector<std::size_t> counts = counts_around(small_thresholds, element_bytes);
    counts.insert(counts.end(), {0, 1, 2, 3, 7, 8, 9});
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

// The largest is odd in elements and no multiple of anything.
inline std::vector<std::size_t> large_counts(std::size_t element_bytes) {
    std::vector<std::size_t> counts = counts_around(large_thresholds, element_bytes);
    counts.push_back(((3U << 20) + 1234) / element_bytes | 1U);
    return counts;
}

}  // namespace peercoll::test
