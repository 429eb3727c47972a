// SPDX-License-Identifier: BSD-3-Clause
// The kinds of memory that an application hands to collectives, by the names of CUDA's driver. Which of them a vendor
// has, and which of those other processes can map, its face says (face.hpp).
#pragma once

#include <cstdint>
#include <iosfwd>

namespace peercoll::test {

enum class Memory : std::uint8_t {
    Host,
    Pinned,          // cuMemHostAlloc, hipHostMalloc, aclrtMallocHost
    Device,          // cuMemAlloc, hipMalloc, aclrtMalloc
    Managed,         // cuMemAllocManaged, hipMallocManaged
    DefaultPool,     // cuMemAllocAsync, hipMallocAsync: cannot be shared
    SharedPool,      // of a pool made for descriptors
    Physical,        // cuMemCreate without handle types: cannot be shared
    SharedPhysical,  // cuMemCreate for descriptors
};

std::ostream& operator<<(std::ostream& out, Memory kind);
constexpr bool on_device(Memory kind) {
    return kind != Memory::Host && kind != Memory::Pinned;
}

}  // namespace peercoll::test
