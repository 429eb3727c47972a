// SPDX-License-Identifier: BSD-3-Clause
// Where a forced algorithm must really run, from what its head comment says it takes.
#pragma once

#include "tests/support/plugin.hpp"

#include <cstddef>
#include <string>

namespace peercoll::test {

// Whether this machine lets one process read another's memory, found out without the plugin.
bool machine_allows_single_copy();

inline constexpr std::size_t packets_take = 1064;  // bytes

// Messages of `bytes` > 0 between two ranks or more; `groups` is how many groups the reduction plan has.
inline bool must_run_if_forced(const std::string& algorithm, std::size_t bytes, std::size_t groups, bool single_copy) {
    if (algorithm == "packets") {
        return bytes <= packets_take;
    }
    if (algorithm == "grouped") {
        return groups > 1;
    }
    if (algorithm == "single_copy") {
        return single_copy;
    }
    return algorithm != "auto";
}

}  // namespace peercoll::test
