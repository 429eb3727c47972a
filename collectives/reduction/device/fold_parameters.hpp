// SPDX-License-Identifier: BSD-3-Clause
// How a fold on a device is started: the kernel's name, its argument and its grid. The same for CUDA and HIP.
//
//     name = fold_kernel_name(fold.datatype, fold.op)       nullptr: fold on the host
//     fill_fold_parameters(fold, parameters)
//     once = passes_once(parameters, fold.granularity_log2) and the flag can be written behind the kernel
//     geometry = fold_geometry(parameters, multiprocessors, once)
//     if (geometry.blocks > 1 && parameters.flag) parameters.counter = ...
//     launch name<<<geometry.blocks, geometry.threads>>>(parameters)      no dynamic shared memory
#pragma once

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>

#include "collectives/reduction/device/kernel/parameters.hpp"

namespace peercoll {

struct FoldGeometry {
    std::uint32_t blocks;
    std::uint32_t threads;
};

// Kernels are built by families, one image (or one run-time compilation) each, so that nobody waits for what he does
// not use.
constexpr int fold_kernel_families = 8;

// The kernel for a datatype and an operation; nullptr if there is none: FLOAT80, FLOAT128 and what is made of them, and
// pairs that op_supports() denies. Several pairs share a kernel. Static.
const char* fold_kernel_name(peercoll_datatype_t datatype, peercoll_op_t op);
// The family of that kernel, 0 to fold_kernel_families - 1; -1 if there is none.
int fold_kernel_family(peercoll_datatype_t datatype, peercoll_op_t op);

// All kernels one after another, for tests and for loading all; nullptr past the end. Static.
const char* fold_kernel_name_at(std::size_t index);
int fold_kernel_family_at(std::size_t index);  // -1 past the end

// Fills in everything but `counter`, which becomes 0. False if the fold is not one (see peercoll_fold_t), or has no
// kernel. A fold that copies has only those outputs that are not its input.
bool fill_fold_parameters(const peercoll_fold_t& fold, FoldParameters& parameters);

// Whether the fold is so large that its blocks should come and go, one for each access of its threads: on an H200 4.1
// TB/s, where blocks that stay reach 3.9. With a flag of the kernel's own each block would wait for its stores to be
// seen, so the flag is better written behind the kernel by other means. Not for memory that another process allocated
// in sizes which are no multiples of 2 MiB: CUDA maps that in small pages, which are found slowly, and threads that all
// stand in the same page wait together for the next (2.4 TB/s).
bool passes_once(const FoldParameters& parameters, unsigned granularity_log2);

// One block while two accesses of each of its threads are enough; then so many as suits the fold, on a device with
// `multiprocessors`; with `once` one for each access. Fills in how the steps are shared among them.
FoldGeometry fold_geometry(FoldParameters& parameters, int multiprocessors, bool once = false);

}  // namespace peercoll
