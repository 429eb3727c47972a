// SPDX-License-Identifier: BSD-3-Clause
// What the 64 bytes of a handle between processes hold here.
#pragma once

#include "tests/simulated_devices/core/process.hpp"

#include <cstdint>
#include <cstring>

namespace peercoll::simulator::cuda {

struct HandleContents {
    std::uint32_t magic = 0;
    std::int32_t descriptor = -1;  // in the owner
    ProcessName owner;
    std::uint64_t id = 0;      // of the block or the event
    std::uint64_t offset = 0;  // of the block in its file
    std::uint64_t base = 0;    // in the owner
    std::uint64_t bytes = 0;
};
static_assert(sizeof(HandleContents) <= 64);

inline constexpr std::uint32_t memory_magic = 0x4d454d48;
inline constexpr std::uint32_t event_magic = 0x45564e54;

template <typename Handle>
Handle to_handle(const HandleContents& contents) {
    Handle handle = {};
    std::memcpy(&handle, &contents, sizeof(contents));
    return handle;
}

template <typename Handle>
HandleContents from_handle(const Handle& handle) {
    HandleContents contents;
    std::memcpy(static_cast<void*>(&contents), &handle, sizeof(contents));
    return contents;
}

}  // namespace peercoll::simulator::cuda
