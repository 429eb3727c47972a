// SPDX-License-Identifier: BSD-3-Clause
// Memory of every kind that an application hands to collectives, filled and read in the application's own way.
#pragma once

#include "tests/device_collectives/application.hpp"
#include "tests/device_collectives/memory_kinds.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll::test {

class TestMemory {
public:
    // `application` may be null for plain host memory.
    TestMemory(const Application* application, Memory kind, std::size_t bytes, int device = 0);
    ~TestMemory();
    TestMemory(const TestMemory&) = delete;
    TestMemory& operator=(const TestMemory&) = delete;

    Memory kind() const { return kind_; }
    std::byte* address() const { return reinterpret_cast<std::byte*>(piece_.address); }
    void write(std::size_t offset, const void* from, std::size_t bytes) const;
    void read(std::size_t offset, void* to, std::size_t bytes) const;

private:
    const Application* application_;
    Memory kind_;
    Application::Piece piece_;
};

}  // namespace peercoll::test
