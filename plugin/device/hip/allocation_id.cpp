// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/allocation_id.hpp"

#include <cstring>

namespace peercoll::hip {

std::uint32_t buffer_id(const HipFunctions& hip, std::uint64_t address) {
    if (hip.pointer_get_attribute == nullptr) return 0;
    // Written are 4 bytes, whatever CUDA's type of the attribute is.
    std::uint64_t place = 0;
    if (hip.pointer_get_attribute(&place, pointer_attribute::buffer_id, reinterpret_cast<void*>(address)) !=
        code::success)
        return 0;
    std::uint32_t id = 0;
    std::memcpy(&id, &place, sizeof id);
    return id;
}

std::uint64_t allocation_id(std::uint32_t buffer_id, std::uint64_t base, std::uint64_t bytes) {
    if (buffer_id == 0) return 0;
    const std::uint64_t mixed = base * 0x9e3779b97f4a7c15 ^ (bytes * 0xc2b2ae3d27d4eb4f >> 7);
    return std::uint64_t{buffer_id} << 32 | mixed >> 32;
}

}  // namespace peercoll::hip
