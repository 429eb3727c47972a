// SPDX-License-Identifier: BSD-3-Clause
// What differs between the simulated releases. version.cpp is the one file that is built for each of them; what is not
// there at all, their export lists leave out.
#pragma once

namespace peercoll::simulator::hip {

// 5, 6 or 7: the library's soname.
int major();
// As hipRuntimeGetVersion says it.
int runtime_version();

struct MemoryTypes {
    int host;
    int device;
    int managed;
};
MemoryTypes memory_types();

// The only flag that hipIpcOpenMemHandle takes.
unsigned lazy_peer_access_flag();
// hipGetLastError gives the last call's result, or the last one that was an error.
bool errors_stay();

}  // namespace peercoll::simulator::hip
