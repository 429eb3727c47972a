// SPDX-License-Identifier: BSD-3-Clause
// The one file that is built differently for an old driver; what else is not there, its export list leaves out.
#include "tests/simulated_devices/core/process.hpp"
#include "tests/simulated_devices/cuda/state.hpp"

#include <algorithm>

namespace peercoll::simulator::cuda {

int reported_driver_version() {
#ifdef PEERCOLL_SIMULATED_DRIVER_MOST_VERSION
    return std::min(process().node().driver_version, PEERCOLL_SIMULATED_DRIVER_MOST_VERSION);
#else
    return process().node().driver_version;
#endif
}

}  // namespace peercoll::simulator::cuda
