// SPDX-License-Identifier: BSD-3-Clause
// Kernels made in this process by NVRTC, for a library that was built without nvcc or for a device that nvcc's code
// does not fit. NVRTC comes with the CUDA toolkit and with Python's wheels; it is looked for where the loader finds it,
// next to the CUDA libraries this process has loaded, and where toolkits are installed.
#pragma once

#include "plugin/common/status.hpp"

#include <string>

namespace peercoll::cuda {

struct CompiledKernels {
    std::string image;         // for cuModuleLoadData()
    std::string architecture;  // "sm_90"; "compute_90" is PTX, which the driver translates
    std::string compiler;      // "NVRTC 13.0"
};

// Compiles a family of kernels (fold_kernel_family()) for a device of compute capability `major`.`minor`; prefers an
// NVRTC of the driver's own major version, which cannot be too new for it.
Status compile_kernels(int family, int major, int minor, int driver_major, CompiledKernels& compiled);

}  // namespace peercoll::cuda
