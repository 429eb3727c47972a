// SPDX-License-Identifier: BSD-3-Clause
// The one place that names them: a build may leave out any (PEERCOLL_WITH_HIP and so on).
#include "plugin/device/built_in_runtimes.hpp"

#if !defined(PEERCOLL_WITHOUT_ASCEND)
#include "plugin/device/ascend/ascend_device.hpp"
#endif
#if !defined(PEERCOLL_WITHOUT_CUDA)
#include "plugin/device/cuda/cuda_device.hpp"
#endif
#if !defined(PEERCOLL_WITHOUT_HIP)
#include "plugin/device/hip/hip_device.hpp"
#endif

namespace peercoll {

std::vector<const peercoll_device_runtime_t*> built_in_runtimes() {
    std::vector<const peercoll_device_runtime_t*> runtimes;
#if !defined(PEERCOLL_WITHOUT_CUDA)
    runtimes.push_back(&cuda_device());
#endif
#if !defined(PEERCOLL_WITHOUT_HIP)
    runtimes.push_back(&hip_device());
#endif
#if !defined(PEERCOLL_WITHOUT_ASCEND)
    runtimes.push_back(&ascend_device());
#endif
    return runtimes;
}

}  // namespace peercoll
