// SPDX-License-Identifier: BSD-3-Clause
// Memory of every kind that an application hands to collectives, filled and read in the application's own way: by the
// driver's synchronous copies, which for device memory may return before they are done.
#pragma once

#include "tests/unit/cuda_device/application.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace peercoll::test {

enum class Memory : std::uint8_t {
    Host,
    Pinned,          // cuMemHostAlloc
    Device,          // cuMemAlloc
    Managed,         // cuMemAllocManaged
    DefaultPool,     // cuMemAllocAsync: cannot be shared
    SharedPool,      // of a pool made for descriptors
    Physical,        // cuMemCreate without handle types: cannot be shared
    SharedPhysical,  // cuMemCreate for descriptors
};

std::ostream& operator<<(std::ostream& out, Memory kind);
constexpr bool on_device(Memory kind) {
    return kind != Memory::Host && kind != Memory::Pinned;
}
// Whether other processes can map it.
constexpr bool shareable(Memory kind) {
    return kind == Memory::Device || kind == Memory::SharedPool || kind == Memory::SharedPhysical;
}

class TestMemory {
public:
    // `application` may be null for plain host memory.
    TestMemory(const Application* application, Memory kind, std::size_t bytes, int device = 0);
    ~TestMemory();
    TestMemory(const TestMemory&) = delete;
    TestMemory& operator=(const TestMemory&) = delete;

    Memory kind() const { return kind_; }
    std::byte* address() const { return reinterpret_cast<std::byte*>(address_); }
    void write(std::size_t offset, const void* from, std::size_t bytes) const;
    void read(std::size_t offset, void* to, std::size_t bytes) const;

private:
    void allocate_from_pool(int handle_types, int device);

    const Application* application_;
    Memory kind_;
    std::size_t bytes_;
    std::uint64_t address_ = 0;
    cuda::CuMemoryPool pool_ = nullptr;
};

}  // namespace peercoll::test
