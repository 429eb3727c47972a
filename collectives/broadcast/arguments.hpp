// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace peercoll {

// One broadcast, checked: bytes > 0, root is a rank of the team.
struct BroadcastArguments {
    std::byte* buffer = nullptr;
    std::size_t bytes = 0;
    int root = 0;
};

}  // namespace peercoll
