// SPDX-License-Identifier: BSD-3-Clause
// The kernels as nvcc made them when this library was built: native code for some architectures, and PTX.
#pragma once

#include <cstddef>

namespace peercoll {

struct KernelImage {
    const void* data;  // for cuModuleLoadData(): a fat binary
    std::size_t bytes;
    const char* text;  // for people: "sm_80 sm_90 sm_100, PTX compute_80"
};

// The image of a family (fold_kernel_family()). nullptr if this library was built without nvcc, and for no family.
const KernelImage* cuda_kernel_image(int family);

}  // namespace peercoll
