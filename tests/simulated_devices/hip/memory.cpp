// SPDX-License-Identifier: BSD-3-Clause
// Memory of devices, of pools, managed memory, and host memory that devices reach.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

#include <sys/mman.h>

namespace peercoll::simulator::hip {

namespace {

hipError_t allocate(const Device& device, MemoryKind kind, std::size_t bytes, void** address) {
    if (address == nullptr) {
        return hipErrorInvalidValue;
    }
    *address = nullptr;
    if (bytes == 0) {
        return hipSuccess;  // no memory, and no error
    }
    Process& simulated = process();
    const std::uint64_t size = round_up(bytes, page_bytes);
    if (size < bytes || !simulated.has_room(device.of_node, size)) {
        return hipErrorOutOfMemory;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = kind;
    mapping->bytes = bytes;
    mapping->device = device.of_node;
    mapping->physical_device = device.of_node;
    mapping->open_to_peers = kind == MemoryKind::Device;
    mapping->readers.store(one_device(device.of_node));
    mapping->writers.store(one_device(device.of_node));
    constexpr std::uint64_t large = std::uint64_t{2} << 20;
    mapping->range = simulated.addresses().reserve(size, size >= large ? large : page_bytes);
    if (!mapping->range) {
        return hipErrorOutOfMemory;
    }
    mapping->base = mapping->range->base();
    const auto& known = simulated.node().devices[static_cast<std::size_t>(device.of_node)];
    mapping->block = std::make_shared<Block>(simulated.arena(device.of_node), size, known.uuid,
                                             simulated.node().poison_bytes, Block::WhenFreed::Poison);
    if (!simulated.addresses().map(mapping)) {
        return hipErrorOutOfMemory;
    }
    *address = pointer(mapping->base);
    return hipSuccess;
}

hipError_t add_host(MemoryKind kind, void* address, std::size_t bytes, std::shared_ptr<void> host_memory) {
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = kind;
    mapping->base = number(address);
    mapping->bytes = bytes;
    mapping->handle_types = current_device();  // whose it counts as
    mapping->host_memory = std::move(host_memory);
    return process().addresses().add_host(mapping) ? hipSuccess : hipErrorHostMemoryAlreadyRegistered;
}

// The mapping of this kind that begins there; null if there is none.
std::shared_ptr<Mapping> beginning_at(const void* address, MemoryKind kind) {
    auto mapping = find_mapping(address);
    return mapping && mapping->base == number(address) && mapping->kind == kind ? mapping : nullptr;
}

// Waits for what runs on the memory's device and on the current one.
void give_back(const Device& device, const std::shared_ptr<Mapping>& mapping) {
    process().scheduler().synchronize(*device.execution);
    const int ordinal = mapping->device < 0 ? -1 : ordinal_of(mapping->device);
    if (ordinal >= 0) {
        process().scheduler().synchronize(*device_at(ordinal).execution);
    }
    process().addresses().remove(mapping);
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** address, std::size_t bytes) {
    note_call(Call::Allocation);
    return call_on_device([&](Device& device) { return allocate(device, MemoryKind::Device, bytes, address); });
}

hipError_t hipExtMallocWithFlags(void** address, std::size_t bytes, unsigned flags) {
    note_call(Call::Allocation);
    return call_on_device([&](Device& device) {
        constexpr unsigned signal_memory = 2;
        if (flags > 3 || (flags == signal_memory && bytes != 8)) {
            return hipErrorInvalidValue;
        }
        return allocate(device, MemoryKind::Device, bytes, address);
    });
}

hipError_t hipMallocManaged(void** address, std::size_t bytes, unsigned flags) {
    note_call(Call::Allocation);
    return call_on_device([&](Device& device) {
        if ((flags != 1 && flags != 2) || bytes == 0) {
            return hipErrorInvalidValue;
        }
        return allocate(device, MemoryKind::Managed, bytes, address);
    });
}

hipError_t hipMallocAsync(void** address, std::size_t bytes, hipStream_t stream) {
    note_call(Call::Allocation);
    return call_on_device([&](Device& device) {
        return find_stream(stream) ? allocate(device, MemoryKind::Pool, bytes, address) : hipErrorContextIsDestroyed;
    });
}

hipError_t hipFree(void* address) {
    return call_on_device([&](Device& device) {
        if (address == nullptr) {
            return hipSuccess;
        }
        auto mapping = find_mapping(address);
        const bool good = mapping && mapping->base == number(address) &&
                          (mapping->kind == MemoryKind::Device || mapping->kind == MemoryKind::Managed ||
                           mapping->kind == MemoryKind::Pool);
        if (!good) {
            return hipErrorInvalidValue;
        }
        give_back(device, mapping);
        return check(device);
    });
}

hipError_t hipFreeAsync(void* address, hipStream_t handle) {
    return call_on_device([&](Device&) {
        const auto mapping = beginning_at(address, MemoryKind::Pool);
        const auto stream = find_stream(handle);
        if (!mapping || !stream) {
            return hipErrorInvalidValue;
        }
        submit(*stream, [mapping] {
            process().addresses().remove(mapping);
            return Result::Ok;
        });
        return hipSuccess;
    });
}

hipError_t hipHostMalloc(void** address, std::size_t bytes, unsigned flags) {
    note_call(Call::HostAllocation);
    return call_on_device([&](Device&) {
        if (address == nullptr || (flags & ~hipHostMallocAllFlags) != 0) {
            return hipErrorInvalidValue;
        }
        *address = nullptr;
        if (bytes == 0) {
            return hipSuccess;
        }
        void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return hipErrorOutOfMemory;
        }
        const hipError_t result =
            add_host(MemoryKind::Pinned, memory, bytes,
                     std::shared_ptr<void>(memory, [bytes](void* pages) { ::munmap(pages, bytes); }));
        if (result == hipSuccess) {
            *address = memory;
        }
        return result;
    });
}

hipError_t hipHostFree(void* address) {
    return call_on_device([&](Device& device) {
        if (address == nullptr) {
            return hipSuccess;
        }
        const auto mapping = beginning_at(address, MemoryKind::Pinned);
        if (!mapping) {
            return hipErrorInvalidValue;
        }
        give_back(device, mapping);
        return hipSuccess;
    });
}

hipError_t hipHostRegister(void* address, std::size_t bytes, unsigned flags) {
    note_call(Call::HostRegistration);
    return call_on_device([&](Device&) {
        if (address == nullptr || bytes == 0 || (flags & ~hipHostRegisterAllFlags) != 0) {
            return hipErrorInvalidValue;
        }
        return add_host(MemoryKind::Registered, address, bytes, nullptr);
    });
}

hipError_t hipHostUnregister(void* address) {
    return call_on_device([&](Device& device) {
        const auto mapping = beginning_at(address, MemoryKind::Registered);
        if (!mapping) {
            return hipErrorHostMemoryNotRegistered;
        }
        give_back(device, mapping);
        return hipSuccess;
    });
}

hipError_t hipHostGetDevicePointer(void** device_address, void* address, unsigned flags) {
    return call_on_device([&](Device&) {
        const auto mapping = find_mapping(address);
        if (device_address == nullptr || flags != 0 || !mapping || !mapping->is_host()) {
            return hipErrorInvalidValue;
        }
        *device_address = address;
        return hipSuccess;
    });
}

hipError_t hipMemGetInfo(std::size_t* unused, std::size_t* all) {
    return call_on_device([&](Device& device) {
        if (unused == nullptr || all == nullptr) {
            return hipErrorInvalidValue;
        }
        *all = properties(current_device()).memory_bytes;
        const std::uint64_t used = process().bytes_in_use(device.of_node);
        *unused = used < *all ? *all - used : 0;
        return hipSuccess;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
