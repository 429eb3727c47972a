// SPDX-License-Identifier: BSD-3-Clause
// Sharing out elements among ranks so that no two ranks write the same cache line of a common buffer.
#pragma once

#include <algorithm>
#include <cstddef>

namespace peercoll {

struct Slice {
    std::size_t begin = 0;  // elements
    std::size_t end = 0;
    std::size_t count() const { return end - begin; }
};

// Part `index` of `parts` of `count` elements; boundaries are multiples of `granule` elements. Later parts may be
// empty.
inline Slice slice_of(std::size_t count, std::size_t parts, std::size_t index, std::size_t granule) {
    const std::size_t granules = (count + granule - 1) / granule;
    const std::size_t begin = granules * index / parts * granule;
    const std::size_t end = granules * (index + 1) / parts * granule;
    return {std::min(begin, count), std::min(end, count)};
}

// Elements that fill whole cache lines, for elements of any size.
inline std::size_t line_granule(std::size_t element_bytes) {
    return element_bytes >= 64 ? 1 : (64 % element_bytes == 0 ? 64 / element_bytes : 64);
}

}  // namespace peercoll
