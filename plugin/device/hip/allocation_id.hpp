// SPDX-License-Identifier: BSD-3-Clause
// Which allocation a pointer belongs to, by a number that no later allocation gets.
//
// HIP's BUFFER_ID is the count of all allocations of the process so far, in 32 bits: a new allocation has another one
// than any before it, also at the same address, until 4 billion have been made. Ours is that count, and below it 32
// bits mixed from the allocation's base and size: after the count has wrapped, a mistake would take the same count
// again at the same base with the same size. Memory of a pool keeps its number when the pool hands it out again; it is
// then the same memory, mapped all the while, and what others mapped of it is still right.
//
// Releases before ROCm 5.1 have no BUFFER_ID. Nothing else tells there that an address was freed and allocated anew, so
// allocations have no number then, which means that they are staged and never mapped by others.
#pragma once

#include "plugin/device/hip/hip_api.hpp"

#include <cstdint>

namespace peercoll::hip {

// 0: the runtime has none for it.
std::uint32_t buffer_id(const HipFunctions& hip, std::uint64_t address);

// 0 where `buffer_id` is.
std::uint64_t allocation_id(std::uint32_t buffer_id, std::uint64_t base, std::uint64_t bytes);

}  // namespace peercoll::hip
