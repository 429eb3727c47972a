// SPDX-License-Identifier: BSD-3-Clause
// Reductions of host memory: for each datatype and operation one function that folds several inputs into one output.
#pragma once

#include <peercoll/peercoll.h>

#include <cstddef>

namespace peercoll {

// out[i] = ((inputs[0][i] op inputs[1][i]) op inputs[2][i]) op ... for i in [0, count). n_inputs >= 1; one input is a
// copy. `out` may be the same address as any of the inputs, and must not overlap them otherwise. No alignment is
// required. Half types are accumulated in float32 over all inputs and rounded once. The bits depend on the values and
// their order alone: not on count, alignment, or the instruction set chosen at run time.
// What MPI leaves open, for two inputs and more: integers wrap; a NaN that SUM or PROD gives is the quiet one without
// sign and payload; MIN is `a < b ? a : b` and MAX `a > b ? a : b`, so that the later input wins if either is a NaN or
// both are zeros (MINLOC and MAXLOC the same); padding in elements is written as zeros.
using FoldFunction = void (*)(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count);

// nullptr where op is not defined for datatype (see op_supports in peercoll.h), and for values that are none.
// Picks the best instruction set of this processor once per process.
FoldFunction find_fold(peercoll_op_t op, peercoll_datatype_t datatype);

// Bytes of one element; 0 for a value that is no datatype here.
std::size_t datatype_size(peercoll_datatype_t datatype);
const char* datatype_name(peercoll_datatype_t datatype);  // nullptr for none
const char* op_name(peercoll_op_t op);                    // nullptr for none
bool op_supports(peercoll_op_t op, peercoll_datatype_t datatype);
// False for operations whose result depends on the order of the ranks (REPLACE, NO_OP).
bool op_is_commutative(peercoll_op_t op);
// The instruction set in use: "baseline", "avx2" or "avx512". Static.
const char* host_kernel_instruction_set();

}  // namespace peercoll
