// SPDX-License-Identifier: BSD-3-Clause
// The UCP library of this process: the one it holds, or the system's, opened on first need and never closed.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/ucx/ucp_abi.hpp"

#include <string>

namespace peercoll::ucx {

struct UcpLibrary {
    UcpFunctions call;
    unsigned major = 0;
    unsigned minor = 0;
    std::string version;  // "1.13.1"
    std::string file;
    bool was_loaded = false;  // by others, with their settings
};

// PEERCOLL_ERR_NOT_SUPPORTED: this process has no UCX that can be used, and why. `wanted` as for choose_ucp(). Loads
// with UCX's memory hooks and signal handlers off, unless the user's UCX_* variables say otherwise. Thread safe.
Status open_ucp(const std::string& wanted, const UcpLibrary*& library);

}  // namespace peercoll::ucx
