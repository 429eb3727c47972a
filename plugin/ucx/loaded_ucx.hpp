// SPDX-License-Identifier: BSD-3-Clause
// Which UCX a process may use, decided from the files it has loaded. All UCX releases have the same SONAMEs, and parts
// of two of them in one process crash, so: the one it holds, or none.
#pragma once

#include <string>
#include <vector>

namespace peercoll::ucx {

struct UcpChoice {
    std::string file;     // to be opened; a name without a slash is looked up by the system
    bool loaded = false;  // the process holds it already
    std::string refusal;  // a sentence if none can be used, else empty
};

// `loaded`: paths of all objects of the process, without links; `wanted`: what to open if none of them is UCX's.
UcpChoice choose_ucp(const std::vector<std::string>& loaded, const std::string& wanted);

// Paths of all objects of this process, without links.
std::vector<std::string> loaded_objects();

}  // namespace peercoll::ucx
