// SPDX-License-Identifier: BSD-3-Clause
// One family (PEERCOLL_KERNEL_FAMILY) of the kernels for simulated devices, from the source that the vendors' compilers
// are given too.
#include "tests/simulated_devices/kernels/simulated_kernel.hpp"
// The order matters: this one uses what the other defines.
#include "fold_kernels.cu"
