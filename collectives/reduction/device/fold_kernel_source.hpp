// SPDX-License-Identifier: BSD-3-Clause
// The kernels' source, for compilers at run time (NVRTC, hiprtc). Needs no header, and C++17.
#pragma once

namespace peercoll {

// Compiled with -DPEERCOLL_KERNEL_FAMILY=<family> it gives the kernels of that family; without, all of them. Static.
const char* fold_kernel_source();

}  // namespace peercoll
