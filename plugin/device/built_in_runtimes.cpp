// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/built_in_runtimes.hpp"

#include "plugin/device/ascend/ascend_device.hpp"
#include "plugin/device/cuda/cuda_device.hpp"
#include "plugin/device/hip/hip_device.hpp"

namespace peercoll {

std::vector<const peercoll_device_runtime_t*> built_in_runtimes() {
    return {&cuda_device(), &hip_device(), &ascend_device()};
}

}  // namespace peercoll
