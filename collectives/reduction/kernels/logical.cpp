// SPDX-License-Identifier: BSD-3-Clause
// LAND, LOR, LXOR of integers, C booleans and Fortran LOGICALs: any nonzero input is true, the result is 0 or 1.
#include <cstdint>

#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/fold_loops.hpp"

namespace peercoll::kernels {
namespace {

struct And {
    static bool apply(bool a, bool b) { return a & b; }
};
struct Or {
    static bool apply(bool a, bool b) { return a | b; }
};
struct Xor {
    static bool apply(bool a, bool b) { return a != b; }
};

template <class T, class Op>
struct LogicalKernel {
    using Value = T;
    static constexpr std::size_t element_bytes = sizeof(T);
    static T load(const void* base, std::size_t i) { return load_as<T>(base, i * element_bytes); }
    static T combine(T a, T b) { return Op::apply(a != 0, b != 0) ? T{1} : T{0}; }
    static void store(void* base, std::size_t i, T value) { store_as(base, i * element_bytes, value); }
};

template <class Op>
FoldFunction by_size(peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_INT8:
        case PEERCOLL_UINT8:
        case PEERCOLL_BOOL:
        case PEERCOLL_LOGICAL8:
            return fold<LogicalKernel<std::uint8_t, Op>>;
        case PEERCOLL_INT16:
        case PEERCOLL_UINT16:
        case PEERCOLL_LOGICAL16:
            return fold<LogicalKernel<std::uint16_t, Op>>;
        case PEERCOLL_INT32:
        case PEERCOLL_UINT32:
        case PEERCOLL_LOGICAL32:
            return fold<LogicalKernel<std::uint32_t, Op>>;
        case PEERCOLL_INT64:
        case PEERCOLL_UINT64:
        case PEERCOLL_LOGICAL64:
            return fold<LogicalKernel<std::uint64_t, Op>>;
        default:
            return nullptr;
    }
}

}  // namespace

namespace PEERCOLL_KERNEL_SET {

FoldFunction find_logical_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (op) {
        case PEERCOLL_LAND:
            return by_size<And>(datatype);
        case PEERCOLL_LOR:
            return by_size<Or>(datatype);
        case PEERCOLL_LXOR:
            return by_size<Xor>(datatype);
        default:
            return nullptr;
    }
}

}  // namespace PEERCOLL_KERNEL_SET
}  // namespace peercoll::kernels
