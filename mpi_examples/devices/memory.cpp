// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace peercoll::devices {

void* HostMemory::allocate(std::size_t bytes) {
    const std::size_t whole = (bytes + alignment() - 1) / alignment() * alignment();
    void* memory = std::aligned_alloc(alignment(), whole);
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0, whole);
    return memory;
}

void HostMemory::release(void* memory) noexcept {
    std::free(memory);
}

void HostMemory::set(void* buffer, unsigned char value, std::size_t bytes) {
    std::memset(buffer, value, bytes);
}

}  // namespace peercoll::devices
