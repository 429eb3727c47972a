// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of virtual memory management share.
#pragma once

#include "tests/simulated_devices/cuda/driver.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace peercoll::simulator::cuda {

inline constexpr std::uint64_t granularity = std::uint64_t{2} << 20;

// A physical allocation. Its handles are counted; mappings hold it besides.
struct PhysicalMemory {
    std::shared_ptr<Block> block;
    CUmemAllocationProp properties = {};
    int of_node = -1;
    CUmemGenericAllocationHandle handle = 0;
    unsigned references = 0;
};

class VirtualMemory {
public:
    std::mutex mutex;
    std::map<CUmemGenericAllocationHandle, std::shared_ptr<PhysicalMemory>> handles;
    std::map<CUdeviceptr, std::shared_ptr<AddressRange>> reservations;
    CUmemGenericAllocationHandle last_handle = 0;

    // The calls below hold the mutex already.
    CUmemGenericAllocationHandle add(const std::shared_ptr<PhysicalMemory>& memory);
    std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) const;
};

VirtualMemory& virtual_memory();

// A descriptor of our own for what the application handed over; invalid if it is none.
// Memory of any device of the node, also of one that CUDA_VISIBLE_DEVICES hides from this process, unless the node
// refuses that.
bool may_import(int of_node);
// What pointers into memory of a device are said to belong to: that device, or the first where this one is hidden.
int shown_device(int of_node);

Descriptor duplicate(int descriptor);
// Devices as a set; empty if one of the places is no device that can reach memory of `of_node`, or a flag is unknown.
struct AccessChange {
    DeviceSet none = 0;
    DeviceSet read = 0;
    DeviceSet write = 0;
};
std::optional<AccessChange> access_change(const CUmemAccessDesc* descriptions, std::size_t count, int of_node,
                                          CUresult* why);
void apply(const AccessChange& change, std::atomic<DeviceSet>& readers, std::atomic<DeviceSet>& writers);

}  // namespace peercoll::simulator::cuda
