// SPDX-License-Identifier: BSD-3-Clause
// The rooms of the HIP suite, one file each.
#pragma once

#include "tests/conformance/runner/suite.hpp"

namespace peercoll::conformance::hip {

void add_machine(Suite& suite);
void add_library(Suite& suite);
void add_devices(Suite& suite);
void add_last_error(Suite& suite);
void add_pointers(Suite& suite);
void add_memory(Suite& suite);
void add_streams(Suite& suite);
void add_kernels(Suite& suite);
void add_peers(Suite& suite);
void add_ipc(Suite& suite);
void add_ipc_lifetime(Suite& suite);

}  // namespace peercoll::conformance::hip
