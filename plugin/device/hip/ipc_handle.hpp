// SPDX-License-Identifier: BSD-3-Clause
// What travels in a handle of ours: HIP's own, and what the importer must know to open it rightly.
#pragma once

#include "plugin/device/hip/hip_types.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace peercoll::hip {

struct NamedAllocation {
    HipIpcHandle handle;
    std::int32_t owner_ordinal;  // of the device, as its owner numbers it
    std::int32_t owner_version;  // of the owner's HIP: what is in a handle differs
};
static_assert(sizeof(NamedAllocation) == 72 && std::is_trivially_copyable_v<NamedAllocation>);
static_assert(sizeof(NamedAllocation) <= sizeof(peercoll_memory_handle_t::data));

inline void put(peercoll_memory_handle_t& handle, const NamedAllocation& named) {
    std::memcpy(handle.data, &named, sizeof named);
}
inline NamedAllocation named_by(const peercoll_memory_handle_t& handle) {
    NamedAllocation named{};
    std::memcpy(&named, handle.data, sizeof named);
    return named;
}

}  // namespace peercoll::hip
