// SPDX-License-Identifier: BSD-3-Clause
// How often this process has called a runtime for what costs time: an entry point counts itself, whether or not it then
// does what it was asked for. Each face exports peercoll_simulator_calls(), by which a test reads a count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::simulator {

enum class Call : std::size_t {
    Allocation,        // of device memory
    HostAllocation,    // of pinned host memory
    HostRegistration,  // of host memory that is there
    Export,            // naming memory to other processes
    Import,            // mapping what another process has named
    Enable,            // of access to a peer
    Stream,            // making one
    Launch,            // of a kernel
    Copy,              // one copy or fill, given to a stream or synchronous
    Reduction,         // into memory, by the device's copy engine
    Synchronisation    // until a stream, an event or a device is done
};

void note_call(Call what);

}  // namespace peercoll::simulator

// Of the kind that `name` says: "allocation", "host_allocation", "host_registration", "export", "import", "enable",
// "stream", "launch", "copy", "reduction", "synchronisation". ~0 for any other word.
extern "C" __attribute__((visibility("default"))) std::uint64_t peercoll_simulator_calls(const char* name);
