// SPDX-License-Identifier: BSD-3-Clause
// The one argument of each of the suite's kernels: the same bytes for a device and for the simulated node.
#pragma once

#include <cstdint>

namespace peercoll::conformance {

// target[i] = value + i for i below count, 64-bit words; then flag_value to `flag`, unless that is 0.
struct StoreParameters {
    std::uint64_t target;
    std::uint64_t value;
    std::uint64_t count;
    std::uint64_t flag;
    std::uint64_t flag_value;
};

// target[i] = source[i] for i below count.
struct CopyParameters {
    std::uint64_t target;
    std::uint64_t source;
    std::uint64_t count;
};

// Looks at the word at `flag` until it is `value`, at most `looks` times; then 1 to `result` if it was, else 2.
struct WaitParameters {
    std::uint64_t flag;
    std::uint64_t value;
    std::uint64_t looks;
    std::uint64_t result;
};

}  // namespace peercoll::conformance
