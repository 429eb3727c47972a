// SPDX-License-Identifier: BSD-3-Clause
// A device that holds the buffers of one rank: its memory, and what it can do, for floors. One implementation for each
// vendor's runtime.
#pragma once

#include "memory.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace peercoll::devices {

// Whose runtime. Others come beside CUDA.
enum class Vendor : std::uint8_t { Cuda };

// Which device a rank takes, and how it allocates there.
struct Choice {
    std::optional<int> device;  // all ranks this one; nullopt: by ranks_per_device
    int ranks_per_device = 0;   // so many neighbouring ranks of a host on each; 0: devices in turn
    bool pool = false;          // stream-ordered memory (cudaMallocAsync), which other processes cannot open
};

// A rank's place among those of its host.
struct LocalRank {
    int rank = 0;
    int ranks = 1;
};

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

// Loads the vendor's runtime, if the process has not, and makes the chosen device current.
std::unique_ptr<Device> open_device(Vendor vendor, const Choice& choice, const LocalRank& local);

// Which of `devices` that is; throws where the choice does not fit.
int choose_device(const Choice& choice, const LocalRank& local, int devices);

}  // namespace peercoll::devices
