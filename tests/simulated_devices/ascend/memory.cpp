// SPDX-License-Identifier: BSD-3-Clause
// Memory of devices, host memory that copies take, and what a pointer is.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

#include <sys/mman.h>

namespace peercoll::simulator::acl {

namespace {

aclError add_host(MemoryKind kind, void* address, std::size_t bytes, std::shared_ptr<void> host_memory) {
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = kind;
    mapping->base = number(address);
    mapping->bytes = bytes;
    mapping->host_memory = std::move(host_memory);
    return process().addresses().add_host(mapping) ? ACL_SUCCESS : ACL_ERROR_RT_DRV_INTERNAL_ERROR;
}

aclError remove_at(const void* address, MemoryKind kind) {
    const auto mapping = address == nullptr ? nullptr : find_mapping(address);
    if (!mapping || mapping->base != number(address) || mapping->kind != kind) {
        return ACL_ERROR_INVALID_PARAM;
    }
    process().addresses().remove(mapping);
    return ACL_SUCCESS;
}

}  // namespace

extern "C" {

// More than was asked for: a multiple of 32 and 32 besides. Not initialised.
aclError aclrtMalloc(void** address, std::size_t bytes, int policy) {
    note_call(Call::Allocation);
    return call_in_context([&](Context& context) -> aclError {
        if (address == nullptr || bytes == 0 || policy < 0 || policy > 7) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *address = nullptr;
        const std::uint64_t rounded = round_up(bytes, 32) + 32;
        const std::uint64_t size = round_up(rounded, page_bytes);
        if (size < bytes || !process().has_room(context.of_node, size)) {
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        }
        auto mapping = std::make_shared<Mapping>();
        mapping->kind = MemoryKind::Device;
        mapping->bytes = rounded;
        mapping->device = context.of_node;
        mapping->physical_device = context.of_node;
        mapping->open_to_peers = true;
        mapping->readers.store(one_device(context.of_node));
        mapping->writers.store(one_device(context.of_node));
        mapping->range = process().addresses().reserve(size, page_bytes);
        if (!mapping->range) {
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        }
        mapping->base = mapping->range->base();
        mapping->block =
            std::make_shared<Block>(process().arena(context.of_node), size, properties(context.device).uuid,
                                    process().node().poison_bytes, Block::WhenFreed::Poison);
        if (!process().addresses().map(mapping)) {
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        }
        *address = pointer(mapping->base);
        return ACL_SUCCESS;
    });
}

// Waits for nothing: what still uses it reads garbage.
aclError aclrtFree(void* address) {
    return call_in_context([&](Context&) { return remove_at(address, MemoryKind::Device); });
}

aclError aclrtMallocHost(void** address, std::size_t bytes) {
    note_call(Call::HostAllocation);
    return call_in_context([&](Context&) -> aclError {
        if (address == nullptr || bytes == 0) {
            return ACL_ERROR_INVALID_PARAM;
        }
        void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        }
        *address = memory;
        return add_host(MemoryKind::Pinned, memory, bytes,
                        std::shared_ptr<void>(memory, [bytes](void* pages) { ::munmap(pages, bytes); }));
    });
}

aclError aclrtFreeHost(void* address) {
    return call_in_context([&](Context&) { return remove_at(address, MemoryKind::Pinned); });
}

aclError aclrtHostRegister(void* address, std::uint64_t bytes, int type, void** device_address) {
    note_call(Call::HostRegistration);
    return call_in_context([&](Context&) -> aclError {
        if (address == nullptr || device_address == nullptr || bytes == 0 || type != 0) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *device_address = address;
        return add_host(MemoryKind::Registered, address, bytes, nullptr);
    });
}

aclError aclrtHostUnregister(void* address) {
    return call_in_context([&](Context&) { return remove_at(address, MemoryKind::Registered); });
}

aclError aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes) {
    return call_in_context([&](Context&) -> aclError {
        if (address == nullptr || attributes == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *attributes = {};
        const auto mapping = find_mapping(address);
        if (!mapping) {
            attributes->location.type = LocationUnregistered;
        } else if (mapping->is_host()) {
            attributes->location.type = LocationHost;
        } else {
            attributes->location.type = LocationDevice;
            attributes->location.id = static_cast<std::uint32_t>(number_of(mapping->device));
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtMemGetAddressRange(void* address, void** base, std::size_t* bytes) {
    return call_in_context([&](Context&) -> aclError {
        const auto mapping = find_mapping(address);
        if (!mapping || mapping->is_host() || base == nullptr || bytes == nullptr) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        *base = pointer(mapping->base);
        *bytes = mapping->bytes;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetMemInfo(int kind, std::size_t* unused, std::size_t* all) {
    return call_in_context([&](Context& context) -> aclError {
        constexpr int device_memory = 1;  // ACL_HBM_MEM
        if (unused == nullptr || all == nullptr || kind != device_memory) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *all = properties(context.device).memory_bytes;
        const std::uint64_t used = process().bytes_in_use(context.of_node);
        *unused = used < *all ? *all - used : 0;
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
