// SPDX-License-Identifier: BSD-3-Clause
// UCX's status values in words. Its own function for this is not part of UCP.
#pragma once

#include "plugin/ucx/ucp_abi.hpp"

#include <string>

namespace peercoll::ucx {

// "connection reset (UCX status -25)"
std::string status_text(UcsStatus status);

}  // namespace peercoll::ucx
