// SPDX-License-Identifier: BSD-3-Clause
// Runs broadcasts of a known pattern on one rank and checks the received bytes, the guards and the root's buffer.
#pragma once

#include "tests/collectives/guarded_buffer.hpp"
#include "tests/support/plugin.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace peercoll::test {

// Random bytes, the same in all processes; a message is a window of it.
const std::vector<std::byte>& broadcast_pattern();

class BroadcastRunner {
public:
    static constexpr std::size_t most_start = 4096;

    BroadcastRunner(int rank, peercoll_comm_t comm, std::size_t capacity)
        : rank_(rank), comm_(comm), buffer_(capacity) {}

    // The root sends `bytes` bytes of the pattern from `start` (less than most_start). `offset` (less than 64)
    // misaligns this rank's buffer. False, with a gtest failure, if anything is wrong.
    bool run(std::size_t bytes, int root, std::size_t start, std::size_t offset);

    std::uint64_t calls() const { return calls_; }

private:
    int rank_;
    peercoll_comm_t comm_;
    GuardedBuffer buffer_;
    std::uint64_t calls_ = 0;
};

}  // namespace peercoll::test
