// SPDX-License-Identifier: BSD-3-Clause
// Which kernel folds which datatype by which operation.
#include <iterator>

#include "collectives/reduction/device/fold_parameters.hpp"
#include "collectives/reduction/device/kernel/kernel_list.hpp"
#include "collectives/reduction/host_kernels.hpp"

namespace peercoll {
namespace {

struct Kernel {
    int family;
    peercoll_datatype_t datatype;
    peercoll_op_t op;
    const char* name;
};

#define PEERCOLL_KERNEL_ROW(family, DATATYPE, OP, datatype, op, ...) \
    {family, PEERCOLL_##DATATYPE, PEERCOLL_##OP, "peercoll_fold_" #datatype "_" #op},
constexpr Kernel kernels[] = {{PEERCOLL_COPY_FAMILY, PEERCOLL_BYTE, PEERCOLL_NO_OP, "peercoll_copy"},  //
                              PEERCOLL_BITS_KERNELS(PEERCOLL_KERNEL_ROW)                               //
                              PEERCOLL_FLOAT_KERNELS(PEERCOLL_KERNEL_ROW)                              //
                              PEERCOLL_HALF_KERNELS(PEERCOLL_KERNEL_ROW)                               //
                              PEERCOLL_INTEGER_KERNELS(PEERCOLL_KERNEL_ROW)                            //
                              PEERCOLL_ORDER_KERNELS(PEERCOLL_KERNEL_ROW)                              //
                              PEERCOLL_LOGICAL_KERNELS(PEERCOLL_KERNEL_ROW)                            //
                              PEERCOLL_COMPLEX_KERNELS(PEERCOLL_KERNEL_ROW)                            //
                              PEERCOLL_PAIR_KERNELS(PEERCOLL_KERNEL_ROW)};
#undef PEERCOLL_KERNEL_ROW

bool is_wide_float(peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_FLOAT80:
        case PEERCOLL_FLOAT128:
        case PEERCOLL_COMPLEX_FLOAT80:
        case PEERCOLL_COMPLEX_FLOAT128:
        case PEERCOLL_PAIR_FLOAT80_INT32:
            return true;
        default:
            return false;
    }
}

bool is_integer(peercoll_datatype_t datatype) {
    return datatype >= PEERCOLL_INT8 && datatype <= PEERCOLL_UINT64;
}

// The datatype of `bytes` bytes among four that follow each other.
peercoll_datatype_t of_size(std::size_t bytes, peercoll_datatype_t one, peercoll_datatype_t two,
                            peercoll_datatype_t four, peercoll_datatype_t eight) {
    switch (bytes) {
        case 1:
            return one;
        case 2:
            return two;
        case 4:
            return four;
        default:
            return eight;
    }
}

// The datatype under which the kernel is listed.
peercoll_datatype_t listed_as(peercoll_datatype_t datatype, peercoll_op_t op) {
    const std::size_t bytes = datatype_size(datatype);
    switch (op) {
        case PEERCOLL_SUM:
        case PEERCOLL_PROD:
            return is_integer(datatype)
                       ? of_size(bytes, PEERCOLL_UINT8, PEERCOLL_UINT16, PEERCOLL_UINT32, PEERCOLL_UINT64)
                       : datatype;
        case PEERCOLL_LAND:
        case PEERCOLL_LOR:
        case PEERCOLL_LXOR:
            return of_size(bytes, PEERCOLL_LOGICAL8, PEERCOLL_LOGICAL16, PEERCOLL_LOGICAL32, PEERCOLL_LOGICAL64);
        case PEERCOLL_BAND:
        case PEERCOLL_BOR:
        case PEERCOLL_BXOR:
            return PEERCOLL_BYTE;
        default:
            return datatype;
    }
}

const Kernel* find_kernel(peercoll_datatype_t datatype, peercoll_op_t op) {
    if (!op_supports(op, datatype) || is_wide_float(datatype)) {
        return nullptr;
    }
    if (op == PEERCOLL_REPLACE || op == PEERCOLL_NO_OP) {
        return &kernels[0];
    }
    const peercoll_datatype_t listed = listed_as(datatype, op);
    for (const Kernel& kernel : kernels) {
        if (kernel.datatype == listed && kernel.op == op) {
            return &kernel;
        }
    }
    return nullptr;
}

}  // namespace

const char* fold_kernel_name(peercoll_datatype_t datatype, peercoll_op_t op) {
    const Kernel* kernel = find_kernel(datatype, op);
    return kernel ? kernel->name : nullptr;
}

int fold_kernel_family(peercoll_datatype_t datatype, peercoll_op_t op) {
    const Kernel* kernel = find_kernel(datatype, op);
    return kernel ? kernel->family : -1;
}

const char* fold_kernel_name_at(std::size_t index) {
    return index < std::size(kernels) ? kernels[index].name : nullptr;
}

int fold_kernel_family_at(std::size_t index) {
    return index < std::size(kernels) ? kernels[index].family : -1;
}

}  // namespace peercoll
