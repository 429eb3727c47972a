// SPDX-License-Identifier: BSD-3-Clause
// The rooms of the Ascend suite, one file each.
#pragma once

#include "tests/conformance/runner/suite.hpp"

namespace peercoll::conformance::ascend {

void add_machine(Suite& suite);
void add_library(Suite& suite);
void add_devices(Suite& suite);
void add_memory(Suite& suite);
void add_copies(Suite& suite);
void add_streams(Suite& suite);
void add_peers(Suite& suite);
void add_reductions(Suite& suite);
void add_ipc(Suite& suite);

}  // namespace peercoll::conformance::ascend
