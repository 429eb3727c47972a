// SPDX-License-Identifier: BSD-3-Clause
// Addresses: reserved, backed by physical memory, and opened to devices one by one.
#include "tests/simulated_devices/cuda/virtual_memory.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <fcntl.h>

#include <algorithm>

namespace peercoll::simulator::cuda {

namespace {

// The mappings of exactly these addresses, without a gap and none of them cut; empty if that is not so.
std::vector<std::shared_ptr<Mapping>> whole_mappings(CUdeviceptr address, std::size_t bytes) {
    std::vector<std::shared_ptr<Mapping>> found;
    CUdeviceptr at = address;
    while (at < address + bytes) {
        auto mapping = find_mapping(at);
        if (!mapping || mapping->kind != MemoryKind::Virtual || mapping->base != at ||
            mapping->end() > address + bytes) {
            return {};
        }
        at = mapping->end();
        found.push_back(std::move(mapping));
    }
    return found;
}

// Called with the mutex held. The reservation in which all of it lies.
std::shared_ptr<AddressRange> reservation_of(CUdeviceptr address, std::size_t bytes) {
    auto next = virtual_memory().reservations.upper_bound(address);
    if (next == virtual_memory().reservations.begin()) {
        return nullptr;
    }
    const auto& range = std::prev(next)->second;
    const std::uint64_t end = range->base() + range->bytes();
    return address < end && bytes <= end - address ? range : nullptr;
}

}  // namespace

VirtualMemory& virtual_memory() {
    static VirtualMemory* const memory = std::make_unique<VirtualMemory>().release();
    return *memory;
}

CUmemGenericAllocationHandle VirtualMemory::add(const std::shared_ptr<PhysicalMemory>& memory) {
    if (memory->references == 0) {
        memory->handle = ++last_handle;
        handles[memory->handle] = memory;
    }
    ++memory->references;
    return memory->handle;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::find(CUmemGenericAllocationHandle handle) const {
    const auto found = handles.find(handle);
    return found == handles.end() ? nullptr : found->second;
}

Descriptor duplicate(int descriptor) {
    return Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

bool may_import(int of_node) {
    return of_node >= 0 && (ordinal_of(of_node) >= 0 || !process().node().hidden_import_refused);
}

int shown_device(int of_node) {
    return ordinal_of(of_node) >= 0 ? of_node : driver().devices.front().of_node;
}

std::optional<AccessChange> access_change(const CUmemAccessDesc* descriptions, std::size_t count, int of_node,
                                          CUresult* why) {
    AccessChange change;
    *why = CUDA_ERROR_INVALID_VALUE;
    if (descriptions == nullptr || count == 0) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const CUmemAccessDesc& description = descriptions[i];
        if (description.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
            return std::nullopt;
        }
        if (!is_device(description.location.id)) {
            *why = CUDA_ERROR_INVALID_DEVICE;
            return std::nullopt;
        }
        const int device = driver().devices[static_cast<std::size_t>(description.location.id)].of_node;
        if (device != of_node && !process().node().link(device, of_node).access) {
            *why = CUDA_ERROR_INVALID_DEVICE;
            return std::nullopt;
        }
        switch (description.flags) {
            case CU_MEM_ACCESS_FLAGS_PROT_NONE:
                change.none |= one_device(device);
                break;
            case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
                change.write |= one_device(device);
                [[fallthrough]];
            case CU_MEM_ACCESS_FLAGS_PROT_READ:
                change.read |= one_device(device);
                break;
            default:
                return std::nullopt;
        }
    }
    *why = CUDA_SUCCESS;
    return change;
}

void apply(const AccessChange& change, std::atomic<DeviceSet>& readers, std::atomic<DeviceSet>& writers) {
    const DeviceSet named = change.none | change.read;
    readers.store((readers.load() & ~named) | change.read);
    writers.store((writers.load() & ~named) | change.write);
}

void add_virtual_memory_leaks(LeakCount& leaks) {
    leaks.add("physical allocation handle", virtual_memory().handles.size());
    leaks.add("address reservation", virtual_memory().reservations.size());
    leaks.add("memory pool", driver().pools.size());
}

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
    return call([&] {
        const bool good_alignment = (alignment & (alignment - 1)) == 0;
        if (address == nullptr || bytes == 0 || bytes % granularity != 0 || !good_alignment || flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const std::uint64_t step = std::max<std::uint64_t>(alignment, granularity);
        auto range = wish == 0 ? nullptr : process().addresses().reserve(bytes, step, wish);
        if (!range) {
            range = process().addresses().reserve(bytes, step);  // the wish is only one
        }
        if (!range) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *address = range->base();
        const std::lock_guard lock(virtual_memory().mutex);
        virtual_memory().reservations[*address] = std::move(range);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
    return call([&] {
        const std::lock_guard lock(virtual_memory().mutex);
        const auto found = virtual_memory().reservations.find(address);
        if (found == virtual_memory().reservations.end() || found->second->bytes() != bytes ||
            !process().addresses().is_free(address, bytes)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        virtual_memory().reservations.erase(found);
        return CUDA_SUCCESS;
    });
}

// Until cuMemSetAccess, no device may touch it.
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    return call([&] {
        const std::lock_guard lock(virtual_memory().mutex);
        const auto memory = virtual_memory().find(handle);
        const auto range = reservation_of(address, bytes);
        if (!memory || !range || bytes == 0 || offset != 0 || flags != 0 || address % granularity != 0 ||
            bytes % granularity != 0 || bytes > memory->block->bytes() ||
            !process().addresses().is_free(address, bytes)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        auto mapping = std::make_shared<Mapping>();
        mapping->kind = MemoryKind::Virtual;
        mapping->base = address;
        mapping->bytes = bytes;
        mapping->device = shown_device(memory->of_node);
        mapping->physical_device = memory->of_node;
        mapping->block = memory->block;
        mapping->range = range;
        mapping->physical = memory;
        mapping->handle_types = memory->properties.requestedHandleTypes;
        return process().addresses().map(mapping) ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
    });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
    return call([&] {
        const auto mappings = whole_mappings(address, bytes);
        if (mappings.empty()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        process().scheduler().synchronize_all();
        for (const auto& mapping : mappings) {
            process().addresses().remove(mapping);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptions,
                        std::size_t count) {
    return call([&] {
        const auto mappings = whole_mappings(address, bytes);
        if (mappings.empty()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        for (const auto& mapping : mappings) {
            CUresult why = CUDA_SUCCESS;
            const auto change = access_change(descriptions, count, mapping->physical_device, &why);
            if (!change) {
                return why;
            }
            apply(*change, mapping->readers, mapping->writers);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    return call([&] {
        const auto mapping = find_mapping(reinterpret_cast<std::uintptr_t>(address));
        if (handle == nullptr || !mapping || mapping->kind != MemoryKind::Virtual) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const std::lock_guard lock(virtual_memory().mutex);
        *handle = virtual_memory().add(std::static_pointer_cast<PhysicalMemory>(mapping->physical));
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
