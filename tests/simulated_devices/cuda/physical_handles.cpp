// SPDX-License-Identifier: BSD-3-Clause
// Physical allocations of virtual memory management, and their way to other processes by descriptor. One file each, so
// that a descriptor of it is all that another process needs.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/virtual_memory.hpp"

#include <fcntl.h>

namespace peercoll::simulator::cuda {

namespace {

// What cuMemCreate and its companions say of a description.
CUresult check_properties(const CUmemAllocationProp* properties) {
    if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(properties->location.id)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    constexpr int known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    if ((properties->requestedHandleTypes & ~known) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    // As where no fabric manager has given the process a channel.
    return (properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) != 0 ? CUDA_ERROR_NOT_PERMITTED
                                                                               : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties, int option) {
    return call([&] {
        if (bytes == nullptr || option < 0 || option > 1) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult bad = check_properties(properties);
        if (bad == CUDA_SUCCESS || bad == CUDA_ERROR_NOT_PERMITTED) {
            *bytes = granularity;
            return CUDA_SUCCESS;
        }
        return bad;
    });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* wanted,
                     unsigned long long flags) {
    note_call(Call::Allocation);
    return call([&] {
        if (handle == nullptr || bytes == 0 || bytes % granularity != 0 || flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (const CUresult bad = check_properties(wanted); bad != CUDA_SUCCESS) {
            return bad;
        }
        const int of_node = driver().devices[static_cast<std::size_t>(wanted->location.id)].of_node;
        if (!process().has_room(of_node, bytes)) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        auto memory = std::make_shared<PhysicalMemory>();
        memory->properties = *wanted;
        memory->of_node = of_node;
        memory->block = std::make_shared<Block>(std::make_shared<Arena>(), bytes, properties(wanted->location.id).uuid,
                                                process().node().poison_bytes, Block::WhenFreed::Keep);
        const std::lock_guard lock(virtual_memory().mutex);
        *handle = virtual_memory().add(memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return call([&] {
        const std::lock_guard lock(virtual_memory().mutex);
        const auto memory = virtual_memory().find(handle);
        if (!memory) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (--memory->references == 0) {
            virtual_memory().handles.erase(handle);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* result, CUmemGenericAllocationHandle handle) {
    return call([&] {
        const std::lock_guard lock(virtual_memory().mutex);
        const auto memory = virtual_memory().find(handle);
        if (result == nullptr || !memory) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *result = memory->properties;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemExportToShareableHandle(void* result, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
    note_call(Call::Export);
    return call([&] {
        const std::lock_guard lock(virtual_memory().mutex);
        const auto memory = virtual_memory().find(handle);
        if (result == nullptr || !memory || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
            (memory->properties.requestedHandleTypes & type) == 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const int descriptor = ::fcntl(memory->block->arena()->descriptor(), F_DUPFD_CLOEXEC, 0);
        if (descriptor < 0) {
            return CUDA_ERROR_OPERATING_SYSTEM;
        }
        *static_cast<int*>(result) = descriptor;
        return CUDA_SUCCESS;
    });
}

// `os_handle` is the descriptor itself, not a pointer to one. It stays the caller's.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle, int type) {
    note_call(Call::Import);
    return call([&] {
        const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
        if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        Descriptor file = duplicate(descriptor);
        const auto block = file ? Block::open(std::make_shared<Arena>(std::move(file)), 0, 0) : nullptr;
        if (!block) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const int of_node = process().node().device_with_uuid(block->device());
        if (!may_import(of_node)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        auto memory = std::make_shared<PhysicalMemory>();
        memory->block = block;
        memory->of_node = of_node;
        memory->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        memory->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal_of(shown_device(of_node))};
        const std::lock_guard lock(virtual_memory().mutex);
        *handle = virtual_memory().add(memory);
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
