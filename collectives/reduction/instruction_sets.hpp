// SPDX-License-Identifier: BSD-3-Clause
// Private to the reduction room: the instruction sets the kernels are compiled for, and the kernels of each of them.
#pragma once

#include "collectives/reduction/host_kernels.hpp"

namespace peercoll {

enum class InstructionSet { Baseline, Avx2, Avx512 };

constexpr InstructionSet all_instruction_sets[] = {InstructionSet::Baseline, InstructionSet::Avx2,
                                                   InstructionSet::Avx512};

const char* instruction_set_name(InstructionSet set);

// True if this library was built with kernels for `set` and this processor (and operating system) can run them.
bool instruction_set_available(InstructionSet set);

// find_fold() for one instruction set; for tests and measurements. nullptr also where the set is not available.
FoldFunction find_fold_for(InstructionSet set, peercoll_op_t op, peercoll_datatype_t datatype);

}  // namespace peercoll
