// SPDX-License-Identifier: BSD-3-Clause
// The kernels as hipcc made them when this library was built: a bundle of code objects, one for each architecture.
#pragma once

#include "collectives/reduction/device/cuda_kernel_image.hpp"

namespace peercoll {

// The bundle of a family (fold_kernel_family()), for hipModuleLoadData(). nullptr if this library was built without
// hipcc, and for no family. Its text is "gfx90a gfx1030".
const KernelImage* hip_kernel_image(int family);

}  // namespace peercoll
