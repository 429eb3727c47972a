// SPDX-License-Identifier: BSD-3-Clause
// Runs allreduces of prepared cases on one rank and checks everything about them: the result, the guards, the input.
#pragma once

#include "tests/collectives/guarded_buffer.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/support/plugin.hpp"

#include <cstddef>

namespace peercoll::test {

enum class Compare { Values, Bits };

class AllreduceRunner {
public:
    AllreduceRunner(int rank, peercoll_comm_t comm, std::size_t capacity)
        : rank_(static_cast<std::size_t>(rank)), comm_(comm), input_(capacity), output_(capacity) {}

    // Elements [from, from + count) of the case. False, with a gtest failure, if anything is wrong.
    bool run(const ReductionCase& wanted, std::size_t from, std::size_t count, bool in_place, Compare compare);

    std::uint64_t calls() const { return calls_; }

private:
    std::size_t rank_;
    peercoll_comm_t comm_;
    GuardedBuffer input_;
    GuardedBuffer output_;
    std::uint64_t calls_ = 0;
};

}  // namespace peercoll::test
