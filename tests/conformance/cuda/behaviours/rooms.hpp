// SPDX-License-Identifier: BSD-3-Clause
// The rooms of the CUDA suite, one file each.
#pragma once

#include "tests/conformance/runner/suite.hpp"

namespace peercoll::conformance::cuda {

void add_machine(Suite& suite);
void add_initialisation(Suite& suite);
void add_devices(Suite& suite);
void add_contexts(Suite& suite);
void add_pointers(Suite& suite);
void add_pointer_traps(Suite& suite);
void add_ordering(Suite& suite);
void add_streams(Suite& suite);
void add_events(Suite& suite);
void add_stream_values(Suite& suite);
void add_host_memory(Suite& suite);
void add_kernels(Suite& suite);
void add_ipc(Suite& suite);
void add_ipc_lifetime(Suite& suite);
void add_ipc_events(Suite& suite);
void add_vmm(Suite& suite);
void add_pools(Suite& suite);
void add_peers(Suite& suite);
void add_peer_processes(Suite& suite);
void add_hidden_memory(Suite& suite);

}  // namespace peercoll::conformance::cuda
