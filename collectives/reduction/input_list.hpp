// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace peercoll {

// One input address per rank, without a heap allocation for up to 32 ranks.
class InputList {
public:
    explicit InputList(std::size_t ranks) {
        if (ranks > few_.size()) many_.resize(ranks);
    }
    const void*& operator[](std::size_t rank) { return many_.empty() ? few_[rank] : many_[rank]; }
    const void* const* data() const { return many_.empty() ? few_.data() : many_.data(); }

private:
    std::array<const void*, 32> few_;
    std::vector<const void*> many_;
};

}  // namespace peercoll
