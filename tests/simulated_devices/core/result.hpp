// SPDX-License-Identifier: BSD-3-Clause
// What went wrong inside the core. A face turns these into its vendor's codes.
#pragma once

namespace peercoll::simulator {

enum class Result {
    Ok,
    InvalidValue,
    OutOfMemory,
    NotPermitted,
    NotSupported,
    NotFound,
    AlreadyMapped,
    IllegalAddress,  // a kernel or a copy touched what it may not; poisons the context
    LaunchFailed,
    SystemFault,  // the machine below refused: memory, descriptors, threads
};

}  // namespace peercoll::simulator
