// SPDX-License-Identifier: BSD-3-Clause
// The set of buffers that calls use in turn, so that neither the same address nor the same contents come twice in a
// row.
#pragma once

#include "mpi_examples/devices/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll::bench {

using devices::HostMemory;
using devices::Memory;

// How many buffers one rank needs. Back to back: 8, to stay what programs do with small messages (in cache, but not one
// line all the time). Single: 4 up to 1 MiB; above, so many that the buffers of all `ranks` together are at least one
// and a half times `cache_bytes`, so that every call reads memory.
std::size_t default_buffer_count(std::size_t message_bytes, bool back_to_back, int ranks, std::size_t cache_bytes);

// All last-level caches of this machine together, from sysfs; 32 MiB where that does not tell.
std::size_t last_level_cache_bytes();

// The same for buffers of `ranks_of_device` ranks on one device, whose cache is small beside its memory: 8 up to 1 MiB,
// above as many as are larger than that cache, 2 at least.
std::size_t default_device_buffer_count(std::size_t message_bytes, int ranks_of_device);

class BufferSet {
public:
    BufferSet(std::size_t buffers, std::size_t message_bytes, Memory& memory);
    ~BufferSet();
    BufferSet(const BufferSet&) = delete;
    BufferSet& operator=(const BufferSet&) = delete;

    std::size_t size() const { return buffers_.size(); }
    Memory& memory() const { return memory_; }
    void* send(std::size_t index) { return arena_ + buffers_[index].send; }
    void* receive(std::size_t index) { return arena_ + buffers_[index].receive; }
    // What the contents of a buffer were made from.
    std::uint32_t& seed(std::size_t index) { return buffers_[index].seed; }

private:
    struct Buffer {
        std::size_t send = 0;  // offsets into the arena
        std::size_t receive = 0;
        std::uint32_t seed = 0;
    };

    Memory& memory_;
    std::vector<Buffer> buffers_;
    std::byte* arena_ = nullptr;
};

}  // namespace peercoll::bench
