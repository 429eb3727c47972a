// SPDX-License-Identifier: BSD-3-Clause
// Plain device memory, managed memory, and host memory that devices reach.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <sys/mman.h>

namespace peercoll::simulator::cuda {

namespace {

CUresult allocate(Context& context, MemoryKind kind, std::size_t bytes, CUdeviceptr* address) {
    if (address == nullptr || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    Process& simulated = process();
    const int device = context.execution->device;
    const std::uint64_t size = round_up(bytes, page_bytes);
    if (size < bytes || !simulated.has_room(device, size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = kind;
    mapping->bytes = bytes;
    mapping->device = device;
    mapping->physical_device = device;
    mapping->context = &context;
    mapping->open_to_peers = kind == MemoryKind::Device;
    mapping->synchronous.store((context.flags.load() & CU_CTX_SYNC_MEMOPS) != 0);
    constexpr std::uint64_t large = std::uint64_t{2} << 20;
    mapping->range = simulated.addresses().reserve(size, size >= large ? large : page_bytes);
    if (!mapping->range) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mapping->base = mapping->range->base();
    mapping->block = std::make_shared<Block>(simulated.arena(device), size, properties(context.ordinal).uuid,
                                             simulated.node().poison_bytes, Block::WhenFreed::Poison);
    if (!simulated.addresses().map(mapping)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = mapping->base;
    return CUDA_SUCCESS;
}

CUresult add_host(Context& context, MemoryKind kind, void* address, std::size_t bytes,
                  std::shared_ptr<void> host_memory) {
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = kind;
    mapping->base = reinterpret_cast<std::uintptr_t>(address);
    mapping->bytes = bytes;
    mapping->context = &context;
    mapping->host_memory = std::move(host_memory);
    return process().addresses().add_host(mapping) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult allocate_host(Context& context, void** address, std::size_t bytes) {
    if (address == nullptr || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    static std::atomic<std::size_t> allocations{0};
    void* memory = allocations.fetch_add(1) >= process().node().pinned_limit
                       ? MAP_FAILED
                       : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = add_host(context, MemoryKind::Pinned, memory, bytes,
                                     std::shared_ptr<void>(memory, [bytes](void* pages) { ::munmap(pages, bytes); }));
    if (result == CUDA_SUCCESS) {
        *address = memory;
    }
    return result;
}

// The mapping of this kind that begins there; null if there is none.
std::shared_ptr<Mapping> beginning_at(CUdeviceptr address, MemoryKind kind) {
    auto mapping = find_mapping(address);
    return mapping && mapping->base == address && mapping->kind == kind ? mapping : nullptr;
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    note_call(Call::Allocation);
    return call_with_context([&](Context& context) { return allocate(context, MemoryKind::Device, bytes, address); });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
    note_call(Call::Allocation);
    return call_with_context([&](Context& context) {
        if (flags != 1 && flags != 2) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        return allocate(context, MemoryKind::Managed, bytes, address);
    });
}

// Waits for what runs, as the real one does.
CUresult cuMemFree_v2(CUdeviceptr address) {
    return call_with_context([&](Context& context) {
        if (address == 0) {
            return CUDA_SUCCESS;
        }
        const auto mapping = find_mapping(address);
        const bool good = mapping && mapping->base == address &&
                          (mapping->kind == MemoryKind::Device || mapping->kind == MemoryKind::Managed ||
                           mapping->kind == MemoryKind::Pool || mapping->kind == MemoryKind::ImportedPool);
        if (!good) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        process().scheduler().synchronize(*context.execution);
        if (mapping->context != nullptr && mapping->context != &context) {
            process().scheduler().synchronize(*static_cast<Context*>(mapping->context)->execution);
        }
        process().addresses().remove(mapping);
        return check(&context);
    });
}

CUresult cuMemGetInfo_v2(std::size_t* unused, std::size_t* all) {
    return call_with_context([&](Context& context) {
        if (unused == nullptr || all == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *all = properties(context.ordinal).memory_bytes;
        const std::uint64_t used = process().bytes_in_use(context.execution->device);
        *unused = used < *all ? *all - used : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
    note_call(Call::HostAllocation);
    return call_with_context([&](Context& context) { return allocate_host(context, address, bytes); });
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
    note_call(Call::HostAllocation);
    return call_with_context([&](Context& context) {
        return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate_host(context, address, bytes);
    });
}

CUresult cuMemFreeHost(void* address) {
    return call_with_context([&](Context& context) {
        const auto mapping = beginning_at(reinterpret_cast<std::uintptr_t>(address), MemoryKind::Pinned);
        if (!mapping) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        process().scheduler().synchronize(*context.execution);
        process().addresses().remove(mapping);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
    note_call(Call::HostRegistration);
    return call_with_context([&](Context& context) {
        if (address == nullptr || bytes == 0 || flags > 15) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        // The driver's own host memory is no memory to register; only what was registered before is told as such (712).
        const auto there = find_mapping(reinterpret_cast<std::uintptr_t>(address));
        if (there && there->kind == MemoryKind::Pinned) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        return add_host(context, MemoryKind::Registered, address, bytes, nullptr);
    });
}

CUresult cuMemHostUnregister(void* address) {
    return call_with_context([&](Context& context) {
        const auto mapping = beginning_at(reinterpret_cast<std::uintptr_t>(address), MemoryKind::Registered);
        if (!mapping) {
            return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        }
        process().scheduler().synchronize(*context.execution);
        process().addresses().remove(mapping);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_address, void* address, unsigned flags) {
    return call_with_context([&](Context&) {
        if (device_address == nullptr || flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto mapping = find_mapping(reinterpret_cast<std::uintptr_t>(address));
        if (!mapping || !mapping->is_host()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *device_address = reinterpret_cast<std::uintptr_t>(address);
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
