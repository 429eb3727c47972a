// SPDX-License-Identifier: BSD-3-Clause
// Cutting a message into equal chunks that fit a staging cell.
#pragma once

#include "collectives/host/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace peercoll {

class Chunks {
public:
    Chunks() = default;
    // `count` elements in chunks of at most `limit_bytes`, every chunk but the last of the same size and of whole cache
    // lines.
    Chunks(std::size_t count, std::size_t element_bytes, std::size_t limit_bytes) : count_(count) {
        if (count * element_bytes <= limit_bytes) {  // without a division, which a small message would feel
            size_ = count;
            chunks_ = count > 0 ? 1 : 0;
            return;
        }
        const std::size_t granule = line_granule(element_bytes);
        const std::size_t most = std::max(granule, limit_bytes / element_bytes / granule * granule);
        const std::size_t chunks = (count + most - 1) / most;
        size_ = std::max<std::size_t>(
            granule, ((count + chunks - 1) / std::max<std::size_t>(chunks, 1) + granule - 1) / granule * granule);
        chunks_ = (count + size_ - 1) / size_;
    }
    std::uint64_t size() const { return chunks_; }
    Slice operator[](std::uint64_t index) const {
        const std::size_t begin = static_cast<std::size_t>(index) * size_;
        return {begin, std::min(begin + size_, count_)};
    }

private:
    std::size_t count_ = 0;
    std::size_t size_ = 1;
    std::uint64_t chunks_ = 0;
};

}  // namespace peercoll
