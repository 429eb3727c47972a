// SPDX-License-Identifier: BSD-3-Clause
// peercoll-conformance-hip: does this HIP runtime, real or simulated, do what the plugin relies on?
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/runner/command_line.hpp"

int main(int argc, char** argv) {
    using namespace peercoll::conformance::hip;
    peercoll::conformance::Suite suite;
    for (const auto add : {add_machine, add_library, add_devices, add_last_error, add_pointers, add_memory, add_streams,
                           add_kernels, add_peers, add_ipc, add_ipc_lifetime})
        add(suite);
    return peercoll::conformance::run_suite(suite, argc, argv);
}
