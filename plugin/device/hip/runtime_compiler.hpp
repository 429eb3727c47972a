// SPDX-License-Identifier: BSD-3-Clause
// Kernels made in this process by hiprtc, for a library that was built without hipcc or for a device that hipcc's code
// is not for.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_api.hpp"
#include "plugin/device/hip/versions.hpp"

#include <string>

namespace peercoll::hip {

struct CompiledKernels {
    std::string image;     // for hipModuleLoadData()
    std::string compiler;  // "hiprtc 9.0"
};

// Compiles a family of kernels (fold_kernel_family()) for `target`: "gfx90a:sramecc+:xnack-".
Status compile_kernels(int family, const std::string& target, const HipLibrary& hip, Version version,
                       CompiledKernels& compiled);

}  // namespace peercoll::hip
