// SPDX-License-Identifier: BSD-3-Clause
// The device kernels as the C++ compiler built them, run in this process on its own memory.
#pragma once

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/reduction/device/fold_parameters.hpp"

namespace peercoll::test {

// True if the library of kernels has one of this name, with the parameters we know.
bool has_kernel(const char* name);

// A fold as a caller describes it, with its arrays.
struct FoldCase {
    peercoll_op_t op = PEERCOLL_OP_NONE;
    peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE;
    std::uint64_t count = 0;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::vector<std::uint32_t> block_ends = {};  // empty: one block
    std::uint64_t* flag = nullptr;
    std::uint64_t flag_value = 0;
};

bool fill(const FoldCase& fold, FoldParameters& parameters);

// Runs it as a device with so many multiprocessors would. Throws std::runtime_error if it cannot be started, or if the
// counter is not 0 afterwards. Gives the geometry it had.
FoldGeometry run(const FoldCase& fold, int multiprocessors);

}  // namespace peercoll::test
