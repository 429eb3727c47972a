// SPDX-License-Identifier: BSD-3-Clause
// The families of kernels. Each is one source file, compiled once for each instruction set into the namespace of that
// set (PEERCOLL_KERNEL_SET names it). Everything else in those files has internal linkage: an inline function or a
// template shared with other objects could be kept by the linker in its AVX-512 form and crash an older processor.
#pragma once

#include "collectives/reduction/host_kernels.hpp"

namespace peercoll::kernels {

// The fold for an operation and a datatype of this family, or nullptr.
using FindInFamily = FoldFunction (*)(peercoll_op_t op, peercoll_datatype_t datatype);

struct Families {
    FindInFamily floats;       // FLOAT32, FLOAT64
    FindInFamily integers;     // arithmetic and bitwise operations
    FindInFamily logical;      // LAND, LOR, LXOR
    FindInFamily halves;       // FLOAT16, BFLOAT16
    FindInFamily complex;      // COMPLEX_FLOAT32, COMPLEX_FLOAT64
    FindInFamily pairs;        // MINLOC, MAXLOC, but for the pair with a FLOAT80
    FindInFamily wide_floats;  // FLOAT80, FLOAT128 and what is made of them: has no SIMD, baseline only
};

FoldFunction find_wide_float_fold(peercoll_op_t op, peercoll_datatype_t datatype);

namespace baseline {
FoldFunction find_float_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_integer_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_logical_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_half_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_complex_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_pair_fold(peercoll_op_t op, peercoll_datatype_t datatype);
Families families();
}  // namespace baseline

namespace avx2 {
FoldFunction find_float_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_integer_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_logical_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_half_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_complex_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_pair_fold(peercoll_op_t op, peercoll_datatype_t datatype);
Families families();
}  // namespace avx2

namespace avx512 {
FoldFunction find_float_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_integer_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_logical_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_half_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_complex_fold(peercoll_op_t op, peercoll_datatype_t datatype);
FoldFunction find_pair_fold(peercoll_op_t op, peercoll_datatype_t datatype);
Families families();
}  // namespace avx512

}  // namespace peercoll::kernels
