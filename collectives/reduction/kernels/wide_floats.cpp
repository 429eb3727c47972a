// SPDX-License-Identifier: BSD-3-Clause
// FLOAT80, FLOAT128, their complex types, and the pair with a FLOAT80. No processor has SIMD for them, so one object
// serves all instruction sets.
#include "collectives/reduction/wide_float_types.hpp"

#include <cstdint>

#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/pair_kernels.hpp"

namespace peercoll::kernels {

FoldFunction find_wide_float_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (datatype) {
#if PEERCOLL_HAS_FLOAT80
        case PEERCOLL_FLOAT80:
            return find_real<Float80>(op);
        case PEERCOLL_COMPLEX_FLOAT80:
            return find_complex<Float80>(op);
        case PEERCOLL_PAIR_FLOAT80_INT32:
            return find_pair<Float80, std::int32_t>(op);
#endif
#if PEERCOLL_HAS_FLOAT128
        case PEERCOLL_FLOAT128:
            return find_real<Float128>(op);
        case PEERCOLL_COMPLEX_FLOAT128:
            return find_complex<Float128>(op);
#endif
        default:
            return nullptr;
    }
}

}  // namespace peercoll::kernels
