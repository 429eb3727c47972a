// SPDX-License-Identifier: BSD-3-Clause
// Message sizes and numbers of ranks for looking at a choice from all sides. The thresholds are measured and move, so
// the sizes lie around every place where one might be.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace peercoll::test {

inline std::vector<std::size_t> sizes_around_thresholds() {
    std::set<std::size_t> sizes;
    for (std::size_t bytes = 1; bytes <= 2048; ++bytes) sizes.insert(bytes);
    for (int exponent = 11; exponent <= 46; ++exponent)
        for (const std::size_t eighths : {8, 10, 12, 14})
            for (const int beside : {-1, 0, 1})
                sizes.insert((std::size_t{1} << exponent) / 8 * eighths + static_cast<std::size_t>(beside));
    return {sizes.begin(), sizes.end()};
}

inline const std::vector<int>& numbers_of_ranks() {
    static const std::vector<int> numbers{2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 32, 33, 64, 65, 128, 256, 1000};
    return numbers;
}

}  // namespace peercoll::test
