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

// `count` elements in `parts` parts; boundaries are multiples of `granule` elements. The first parts may be a granule
// longer than the others, and the last ones empty.
class Slices {
public:
    Slices() = default;
    Slices(std::size_t count, std::size_t parts, std::size_t granule) : count_(count), granule_(granule) {
        const std::size_t granules = (count + granule - 1) / granule;
        each_ = granules / parts;
        longer_ = granules % parts;
    }
    std::size_t count() const { return count_; }
    bool has_empty() const { return each_ == 0; }
    Slice operator[](std::size_t index) const { return {begin_of(index), begin_of(index + 1)}; }

private:
    // Without a division, which takes as long as copying the slice of a small message.
    std::size_t begin_of(std::size_t index) const {
        return std::min((index * each_ + std::min(index, longer_)) * granule_, count_);
    }

    std::size_t count_ = 0;
    std::size_t granule_ = 1;
    std::size_t each_ = 0;    // granules
    std::size_t longer_ = 0;  // so many of the first parts have one more
};

inline Slice slice_of(std::size_t count, std::size_t parts, std::size_t index, std::size_t granule) {
    return Slices(count, parts, granule)[index];
}

// Elements that fill whole cache lines, for elements of any size.
inline std::size_t line_granule(std::size_t element_bytes) {
    return element_bytes >= 64 ? 1 : (64 % element_bytes == 0 ? 64 / element_bytes : 64);
}

}  // namespace peercoll
