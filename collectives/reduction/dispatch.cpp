// SPDX-License-Identifier: BSD-3-Clause
// Chooses the instruction set once per process, and finds the kernel for an operation and a datatype.
#if PEERCOLL_X86_KERNELS
#include <cpuid.h>
#endif

#include <initializer_list>

#include "collectives/reduction/copies.hpp"
#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/instruction_sets.hpp"
#include "collectives/reduction/kernels/families.hpp"

namespace peercoll {
namespace {

#if PEERCOLL_X86_KERNELS
// Not every compiler's __builtin_cpu_supports() knows the name. Its registers are AVX's, which that one asks the system
// for.
bool has_f16c() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
#endif

InstructionSet best_instruction_set() {
    InstructionSet best = InstructionSet::Baseline;
    for (InstructionSet set : all_instruction_sets) {
        if (instruction_set_available(set)) {
            best = set;
        }
    }
    return best;
}

InstructionSet chosen_instruction_set() {
    static const InstructionSet chosen = best_instruction_set();
    return chosen;
}

// The first family that knows the pair; no two do.
FoldFunction find_in(const kernels::Families& families, peercoll_op_t op, peercoll_datatype_t datatype) {
    for (kernels::FindInFamily find : {families.floats, families.integers, families.logical, families.halves,
                                       families.complex, families.pairs, families.wide_floats}) {
        if (FoldFunction fold = find(op, datatype)) {
            return fold;
        }
    }
    return nullptr;
}

}  // namespace

const char* instruction_set_name(InstructionSet set) {
    switch (set) {
        case InstructionSet::Baseline:
            return "baseline";
        case InstructionSet::Avx2:
            return "avx2";
        case InstructionSet::Avx512:
            return "avx512";
    }
    return "unknown";
}

bool instruction_set_available(InstructionSet set) {
    switch (set) {
        case InstructionSet::Baseline:
            return true;
#if PEERCOLL_X86_KERNELS
        case InstructionSet::Avx2:
            return __builtin_cpu_supports("avx2") && has_f16c();
        case InstructionSet::Avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   instruction_set_available(InstructionSet::Avx2);
#endif
        default:
            return false;
    }
}

FoldFunction find_fold_for(InstructionSet set, peercoll_op_t op, peercoll_datatype_t datatype) {
    if (!instruction_set_available(set) || !op_supports(op, datatype)) {
        return nullptr;
    }
    if (op == PEERCOLL_REPLACE || op == PEERCOLL_NO_OP) {
        return find_copy(op, datatype_size(datatype));
    }
    switch (set) {
#if PEERCOLL_X86_KERNELS
        case InstructionSet::Avx2:
            return find_in(kernels::avx2::families(), op, datatype);
        case InstructionSet::Avx512:
            return find_in(kernels::avx512::families(), op, datatype);
#endif
        default:
            return find_in(kernels::baseline::families(), op, datatype);
    }
}

FoldFunction find_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    return find_fold_for(chosen_instruction_set(), op, datatype);
}

const char* host_kernel_instruction_set() {
    return instruction_set_name(chosen_instruction_set());
}

}  // namespace peercoll
