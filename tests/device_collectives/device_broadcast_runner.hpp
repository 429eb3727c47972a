// SPDX-License-Identifier: BSD-3-Clause
// Runs broadcasts of a known pattern in memory of any kind and checks the received bytes, the guards and the root's
// buffer.
#pragma once

#include "tests/device_collectives/test_memory.hpp"
#include "tests/support/plugin.hpp"

#include <cstddef>

namespace peercoll::test {

class DeviceBroadcastRunner {
public:
    // Room that the memory must have besides the largest message.
    static constexpr std::size_t extra_bytes = 256;

    DeviceBroadcastRunner(int rank, peercoll_comm_t comm, const TestMemory& memory)
        : rank_(rank), comm_(comm), memory_(&memory) {}

    // The root sends `bytes` bytes of the pattern, from a place that differs from call to call. False, with a gtest
    // failure, if anything is wrong.
    bool run(std::size_t bytes, int root);

    std::uint64_t calls() const { return calls_; }
    std::uint64_t not_empty() const { return not_empty_; }

private:
    int rank_;
    peercoll_comm_t comm_;
    const TestMemory* memory_;
    std::uint64_t calls_ = 0;
    std::uint64_t not_empty_ = 0;
};

}  // namespace peercoll::test
