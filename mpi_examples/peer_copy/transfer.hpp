// SPDX-License-Identifier: BSD-3-Clause
// One pair of devices: what the vendors' samples do with it. Enable both directions, allocate on both devices, copy,
// look at every byte, disable, free.
#pragma once

#include "mpi_examples/peer_copy/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace peercoll::peer_copy {

// Bytes are brought by the runtime's copy (a copy engine), or by a fold of one input: stores of a kernel on the sending
// device, or what the runtime has in its place.
struct Result {
    bool tried = false;
    double bytes_per_second = 0;  // where all bytes were right
    bool failed = false;          // the runtime refused, so that no byte was looked at
    std::string problem{};        // a sentence; empty: every byte was right
};

struct PairResult {
    Result by_copy;
    Result by_kernel;  // not tried where the runtime cannot fold
};

// Whether the runtime says that both reach each other's memory. A device reaches itself.
bool reach_each_other(const Runtime& runtime, std::int32_t one, std::int32_t other);

// From device `from` to device `to`, which may be the same. A failure of the runtime is a problem of the result.
PairResult transfer(const Runtime& runtime, std::int32_t from, std::int32_t to, std::size_t bytes);

}  // namespace peercoll::peer_copy
