// SPDX-License-Identifier: BSD-3-Clause
// Which processors ranks may run on, for telling whether they must share them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace peercoll {

// The first 1024 processors; travels between ranks as bytes.
struct AffinityMask {
    std::array<std::uint64_t, 16> words{};
    static AffinityMask of_this_process();
    int count() const;
    bool operator==(const AffinityMask&) const = default;
};

// True if more ranks are bound to a set of processors than it has, or if all together have fewer than there are ranks.
bool is_crowded(const std::vector<AffinityMask>& ranks);

}  // namespace peercoll
