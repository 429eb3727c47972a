// SPDX-License-Identifier: BSD-3-Clause
// A device that holds the buffers of one rank: its memory, and what it can do, for floors. One implementation for each
// vendor's runtime.
#pragma once

#include "memory.hpp"
#include "settings.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace peercoll::bench {

// The same in all processes; plain data, so that ranks can exchange it.
struct DeviceFacts {
    std::array<std::uint8_t, 16> uuid{};
    std::array<char, 16> pci_id{};
    std::array<char, 64> name{};
    std::array<char, 32> driver{};  // "CUDA 13.0"
};

struct SharedMemoryHandle {
    std::array<char, 64> bytes{};
};

// All functions throw std::runtime_error with a sentence.
class Device : public Memory {
public:
    virtual const DeviceFacts& facts() const = 0;
    // The runtime's own stream, for a rival library of the same vendor.
    virtual void* stream() = 0;
    virtual void synchronize() = 0;

    // Launches an empty kernel. Readied by its first call.
    virtual void launch_empty_kernel() = 0;
    // Starts a copy inside the device, or to memory of another one that open_shared() gave.
    virtual void start_copy(void* to, const void* from, std::size_t bytes) = 0;

    virtual SharedMemoryHandle share(void* memory) = 0;
    virtual void* open_shared(const SharedMemoryHandle& handle) = 0;
    virtual void close_shared(void* memory) noexcept = 0;
};

// The device of the rank with number `local_rank` among `local_ranks` on this host.
std::unique_ptr<Device> open_device(const Settings& settings, int local_rank, int local_ranks);

// Which of `devices` that is; throws where the settings do not fit.
int choose_device(const Settings& settings, int local_rank, int local_ranks, int devices);

}  // namespace peercoll::bench
