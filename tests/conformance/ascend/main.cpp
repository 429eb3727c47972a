// SPDX-License-Identifier: BSD-3-Clause
// peercoll-conformance-ascend: does this ACL, real or simulated, do what the plugin relies on? What is expected is what
// CANN's headers, sources and documents say; nobody has seen it on a device.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/runner/command_line.hpp"

int main(int argc, char** argv) {
    using namespace peercoll::conformance::ascend;
    peercoll::conformance::Suite suite;
    for (const auto add : {add_machine, add_library, add_devices, add_memory, add_copies, add_streams, add_peers,
                           add_reductions, add_ipc})
        add(suite);
    return peercoll::conformance::run_suite(suite, argc, argv);
}
