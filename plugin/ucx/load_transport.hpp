// SPDX-License-Identifier: BSD-3-Clause
// Finds and opens a transport's shared object. Part of the core, which knows no more of transports than transport.h.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/ucx/transport.h"

#include <string>

namespace peercoll {

inline constexpr const char* ucx_transport_file = "peercoll_ucx.so";

// `file`: a path, or a name that is looked for where peercoll installs transports: in the folder peercoll/ beside the
// library this code is in, or one above the component it is in. PEERCOLL_ERR_NOT_SUPPORTED: there is none that can be
// used, and why. Once loaded it stays, so `transport` is good for ever. Thread safe.
Status load_transport(const std::string& file, const peercoll_transport_t*& transport);

}  // namespace peercoll
