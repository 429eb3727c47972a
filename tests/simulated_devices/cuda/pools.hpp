// SPDX-License-Identifier: BSD-3-Clause
// A pool of stream-ordered memory: all its allocations lie in one file, whose first page says what it is.
#pragma once

#include "tests/simulated_devices/cuda/driver.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace peercoll::simulator::cuda {

struct PoolObject {
    CUmemPoolProps properties = {};
    int of_node = -1;
    std::shared_ptr<Arena> arena;
    bool of_driver = false;             // a device's default pool: cannot be shared or destroyed
    bool imported = false;              // nothing can be allocated from it
    std::atomic<bool> exported{false};  // before, no pointer of it can be
    std::atomic<DeviceSet> readers{0};
    std::atomic<DeviceSet> writers{0};
    std::array<std::atomic<std::uint64_t>, 9> attributes = {};
};

// Null: it cannot be made; never so for a device that there is.
std::shared_ptr<PoolObject> default_pool(CUdevice device);
std::shared_ptr<PoolObject> find_pool(CUmemoryPool pool);

// In the first page of the file.
struct PoolHeader {
    std::uint64_t magic;
    Uuid device;
};
inline constexpr std::uint64_t pool_magic = 0x70636c6c706f6f6c;

}  // namespace peercoll::simulator::cuda
