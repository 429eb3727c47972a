// SPDX-License-Identifier: BSD-3-Clause
// Memory of Ascend devices, through the ACL library that the process has loaded: libascendcl or libacl_rt, CANN 5.1
// to 9.
#pragma once

#include <peercoll/device.h>

namespace peercoll {

const peercoll_device_runtime_t& ascend_device();

}  // namespace peercoll
