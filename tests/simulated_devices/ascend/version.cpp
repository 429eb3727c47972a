// SPDX-License-Identifier: BSD-3-Clause
// The one file that is built for each release. What a release does not have at all, its export list leaves out.
#include "tests/simulated_devices/ascend/runtime.hpp"

namespace peercoll::simulator::acl {

bool is_old() {
#ifdef PEERCOLL_SIMULATED_OLD_CANN
    return true;
#else
    return false;
#endif
}

}  // namespace peercoll::simulator::acl
