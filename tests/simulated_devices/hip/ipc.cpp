// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes. A handle is of an address and not of an allocation: what is opened begins where the handle
// was made. What a second opening does differs between releases: an error, the same address without a count, and the
// same address with one.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"
#include "tests/simulated_devices/hip/version.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll::simulator::hip {

namespace {

struct HandleContents {
    std::uint32_t magic = 0;
    std::int32_t descriptor = -1;  // in the owner
    ProcessName owner;
    std::uint64_t id = 0;      // of the block
    std::uint64_t offset = 0;  // of the block in its file
    std::uint64_t bytes = 0;   // of the allocation
    std::uint64_t inside = 0;  // how far in the allocation the handle's address is
    std::int16_t ordinal = 0;  // of the owner's device, as the owner numbers it
    std::int16_t major = 0;
};
static_assert(sizeof(HandleContents) <= sizeof(hipIpcMemHandle_t));

constexpr std::uint32_t memory_magic = 0x48495048;

HandleContents contents_of(const hipIpcMemHandle_t& handle) {
    HandleContents contents;
    std::memcpy(static_cast<void*>(&contents), &handle, sizeof(contents));
    return contents;
}

ImportedMemory* find_open(std::uint64_t block, int device_of_node, std::uint64_t inside) {
    for (ImportedMemory& imported : runtime().imports) {
        if (imported.mapping->block->id() == block && imported.mapping->device == device_of_node &&
            imported.address == imported.mapping->base + inside) {
            return &imported;
        }
    }
    return nullptr;
}

// Which devices' kernels reach it. HIP 7 gives access to the device of the owner's number, whatever that is here.
DeviceSet readers_of(const Device& device, const HandleContents& contents, int owner_device) {
    const bool mistaken = major() >= 7 && device_at(contents.ordinal).of_node != owner_device;
    return mistaken ? 0 : one_device(device.of_node);
}

hipError_t open(Device& device, const HandleContents& contents, void** address) {
    Process& simulated = process();
    Descriptor file = open_of(contents.owner, contents.descriptor);
    if (!file) {
        return hipErrorInvalidDevicePointer;
    }
    const auto block = Block::open(std::make_shared<Arena>(std::move(file)), contents.offset, contents.id);
    if (!block || contents.bytes > block->bytes() || contents.inside >= contents.bytes) {
        return hipErrorInvalidDevicePointer;
    }
    const int from = device.of_node;
    const int to = simulated.node().device_with_uuid(block->device());
    if (to < 0 || ordinal_of(to) < 0 || (to != from && !simulated.node().link(from, to).access)) {
        return hipErrorInvalidDevicePointer;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = MemoryKind::Imported;
    mapping->bytes = contents.bytes;
    mapping->device = from;
    mapping->physical_device = to;
    mapping->readers.store(readers_of(device, contents, to));
    mapping->writers.store(mapping->readers.load());
    mapping->block = block;
    mapping->range = simulated.addresses().reserve(block->bytes(), std::uint64_t{2} << 20);
    if (!mapping->range) {
        return hipErrorOutOfMemory;
    }
    mapping->base = mapping->range->base();
    if (!simulated.addresses().map(mapping)) {
        return hipErrorOutOfMemory;
    }
    runtime().imports.push_back({mapping, mapping->base + contents.inside, 1});
    *address = pointer(mapping->base + contents.inside);
    return hipSuccess;
}

}  // namespace

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* address) {
    note_call(Call::Export);
    return call_on_device([&](Device&) {
        const auto mapping = find_mapping(address);
        if (handle == nullptr) {
            return hipErrorInvalidValue;
        }
        if (!mapping || mapping->kind != MemoryKind::Device) {
            return hipErrorInvalidDevicePointer;
        }
        HandleContents contents;
        contents.magic = memory_magic;
        contents.owner = this_process();
        contents.descriptor = mapping->block->arena()->descriptor();
        contents.id = mapping->block->id();
        contents.offset = mapping->block->offset();
        contents.bytes = mapping->bytes;
        contents.inside = number(address) - mapping->base;
        contents.ordinal = static_cast<std::int16_t>(ordinal_of(mapping->device));
        contents.major = static_cast<std::int16_t>(major());
        *handle = {};
        std::memcpy(handle, &contents, sizeof(contents));
        return hipSuccess;
    });
}

hipError_t hipIpcOpenMemHandle(void** address, hipIpcMemHandle_t handle, unsigned flags) {
    note_call(Call::Import);
    return call_on_device([&](Device& device) {
        const HandleContents contents = contents_of(handle);
        if (address == nullptr || flags != lazy_peer_access_flag()) {
            return hipErrorInvalidValue;
        }
        if (contents.magic != memory_magic || contents.major != major() || process().node().ipc_refused) {
            return hipErrorInvalidDevicePointer;
        }
        if (contents.owner == this_process() && major() >= 6) {
            return hipErrorInvalidContext;
        }
        if (major() >= 7 && !is_device(contents.ordinal)) {
            return hipErrorInvalidValue;
        }
        const std::lock_guard lock(runtime().mutex);
        if (ImportedMemory* const again = find_open(contents.id, device.of_node, contents.inside)) {
            if (major() < 6) {
                return hipErrorInvalidDevicePointer;
            }
            again->opens += major() >= 7 ? 1 : 0;
            *address = pointer(again->address);
            return hipSuccess;
        }
        return open(device, contents, address);
    });
}

// Waits for what runs, as the real one does.
hipError_t hipIpcCloseMemHandle(void* address) {
    return call_on_device([&](Device& device) {
        process().scheduler().synchronize(*device.execution);
        const std::lock_guard lock(runtime().mutex);
        auto& imports = runtime().imports;
        const auto found = std::find_if(imports.begin(), imports.end(), [&](const ImportedMemory& imported) {
            return imported.address == number(address);
        });
        if (found == imports.end()) {
            return hipErrorInvalidValue;
        }
        if (--found->opens == 0) {
            process().addresses().remove(found->mapping);
            imports.erase(found);
        }
        return hipSuccess;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
