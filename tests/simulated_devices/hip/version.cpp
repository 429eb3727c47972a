// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/hip/version.hpp"

namespace peercoll::simulator::hip {

int major() {
    return PEERCOLL_SIMULATED_HIP_MAJOR;
}

// Releases that exist: Debian's, the last of 6, and one of 7.
int runtime_version() {
    switch (major()) {
        case 5:
            return 50221153;
        case 6:
            return 60443482;
        default:
            return 70125424;
    }
}

MemoryTypes memory_types() {
    // Before ROCm 6 managed memory counts as host memory; a field of its own tells.
    return major() < 6 ? MemoryTypes{0, 1, 0} : MemoryTypes{1, 2, 3};
}

unsigned lazy_peer_access_flag() {
    return major() < 6 ? 0 : 1;
}

bool errors_stay() {
    return major() >= 7;
}

}  // namespace peercoll::simulator::hip
