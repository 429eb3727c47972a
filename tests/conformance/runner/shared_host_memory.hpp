// SPDX-License-Identifier: BSD-3-Clause
// Host memory that several processes map, as peercoll's segments are.
#pragma once

#include "tests/conformance/runner/channel.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peercoll::conformance {

class SharedHostMemory {
public:
    explicit SharedHostMemory(std::size_t bytes);                // new, zeroed
    SharedHostMemory(Descriptor descriptor, std::size_t bytes);  // made by another process
    ~SharedHostMemory();
    SharedHostMemory(const SharedHostMemory&) = delete;
    SharedHostMemory& operator=(const SharedHostMemory&) = delete;

    void* address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    int descriptor() const { return descriptor_.get(); }
    // The word at `index`; devices write it as one 64-bit store.
    std::atomic<std::uint64_t>& word(std::size_t index = 0) const;
    // False if the word has not become `value` within some seconds.
    bool wait_for(std::uint64_t value, std::size_t index = 0) const;

private:
    void map();

    Descriptor descriptor_;
    std::size_t bytes_;
    void* address_ = nullptr;
};

}  // namespace peercoll::conformance
