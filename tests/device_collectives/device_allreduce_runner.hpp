// SPDX-License-Identifier: BSD-3-Clause
// Runs allreduces of prepared cases in memory of any kind and checks everything about them: the result, the guards, the
// input.
#pragma once

#include "tests/collectives/allreduce_runner.hpp"
#include "tests/device_collectives/test_memory.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace peercoll::test {

enum class Layout : std::uint8_t { InPlace, OneAllocation, TwoAllocations };

class DeviceAllreduceRunner {
public:
    // Room that each memory must have besides the largest message, twice for OneAllocation.
    static constexpr std::size_t extra_bytes = 512;

    // Messages are read from `source` and written to `destination`; one allocation is the destination's.
    DeviceAllreduceRunner(int rank, peercoll_comm_t comm, const TestMemory& source, const TestMemory& destination)
        : rank_(static_cast<std::size_t>(rank)), comm_(comm), source_(&source), destination_(&destination) {}

    // Elements [from, from + count) of the case. False, with a gtest failure, if anything is wrong.
    bool run(const ReductionCase& wanted, std::size_t from, std::size_t count, Layout layout,
             Compare compare = Compare::Values);
    // The bytes of the last result.
    const std::vector<std::byte>& result() const { return result_; }

    std::uint64_t calls() const { return calls_; }
    std::uint64_t not_empty() const { return not_empty_; }

private:
    std::size_t offset(const TestMemory& memory) const;

    std::size_t rank_;
    peercoll_comm_t comm_;
    const TestMemory* source_;
    const TestMemory* destination_;
    std::vector<std::byte> result_;
    std::uint64_t calls_ = 0;
    std::uint64_t not_empty_ = 0;
};

}  // namespace peercoll::test
