// SPDX-License-Identifier: BSD-3-Clause
// Single copy: reading another process's memory without a copy through shared memory. Implemented over the host device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll {

class PeerReader {
public:
    virtual ~PeerReader() = default;
    // Copies `bytes` at `address` of local rank `peer` to `local`. False if the system refused any of it (then nothing
    // is known about `local`).
    virtual bool read(int peer, std::uint64_t address, void* local, std::size_t bytes) noexcept = 0;
    // Copies `local` into the peer's memory.
    virtual bool write(int peer, std::uint64_t address, const void* local, std::size_t bytes) noexcept = 0;
    // True if both ends of [address, address + bytes) can be read; asks the system only for ranges it has not seen
    // lately.
    virtual bool reachable(int peer, std::uint64_t address, std::size_t bytes) noexcept = 0;
};

}  // namespace peercoll
