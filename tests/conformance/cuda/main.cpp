// SPDX-License-Identifier: BSD-3-Clause
// peercoll-conformance-cuda: does this CUDA driver, real or simulated, do what the plugin relies on?
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/runner/command_line.hpp"

int main(int argc, char** argv) {
    using namespace peercoll::conformance::cuda;
    peercoll::conformance::Suite suite;
    for (const auto add : {add_machine,       add_initialisation, add_devices, add_contexts,       add_pointers,
                           add_pointer_traps, add_ordering,       add_streams, add_events,         add_stream_values,
                           add_host_memory,   add_kernels,        add_ipc,     add_ipc_lifetime,   add_ipc_events,
                           add_vmm,           add_pools,          add_peers,   add_peer_processes, add_hidden_memory})
        add(suite);
    return peercoll::conformance::run_suite(suite, argc, argv);
}
