// SPDX-License-Identifier: BSD-3-Clause
// Pools, and memory that is allocated and freed in the order of a stream.
#include "tests/simulated_devices/cuda/pools.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include "tests/simulated_devices/cuda/virtual_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace peercoll::simulator::cuda {

namespace {

// A device's own pool, and the one that its stream-ordered allocations come from.
struct PoolsOfDevice {
    std::shared_ptr<PoolObject> own;
    std::shared_ptr<PoolObject> current;
};

std::mutex device_pools_mutex;

std::map<CUdevice, PoolsOfDevice>& device_pools() {
    static auto* const pools = std::make_unique<std::map<CUdevice, PoolsOfDevice>>().release();
    return *pools;
}

std::shared_ptr<PoolObject> make_pool(const CUmemPoolProps& wanted) {
    auto pool = std::make_shared<PoolObject>();
    pool->properties = wanted;
    pool->of_node = driver().devices[static_cast<std::size_t>(wanted.location.id)].of_node;
    pool->readers.store(one_device(pool->of_node));
    pool->writers.store(one_device(pool->of_node));
    pool->arena = std::make_shared<Arena>();
    PoolHeader header = {pool_magic, properties(wanted.location.id).uuid};
    if (pool->arena->place(0) != 0 ||
        ::pwrite(pool->arena->descriptor(), &header, sizeof(header), 0) != sizeof(header)) {
        throw std::system_error(errno, std::generic_category(), "a memory pool");
    }
    return pool;
}

// Called with the mutex held.
PoolsOfDevice& pools_of(CUdevice device) {
    PoolsOfDevice& pools = device_pools()[device];
    if (!pools.own) {
        CUmemPoolProps wanted = {};
        wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        pools.own = make_pool(wanted);
        pools.own->of_driver = true;
        pools.current = pools.own;
    }
    return pools;
}

CUresult allocate(Context& context, CUdeviceptr* address, std::size_t bytes, const std::shared_ptr<PoolObject>& pool,
                  CUstream stream) {
    if (address == nullptr || bytes == 0 || !pool || pool->imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!find_stream(context, stream)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    Process& simulated = process();
    const std::uint64_t size = round_up(bytes, page_bytes);
    if (size < bytes || !simulated.has_room(pool->of_node, size)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = MemoryKind::Pool;
    mapping->bytes = bytes;
    mapping->device = pool->of_node;
    mapping->physical_device = pool->of_node;
    mapping->pool = pool;
    mapping->handle_types = pool->properties.handleTypes;
    mapping->readers.store(pool->readers.load());
    mapping->writers.store(pool->writers.load());
    mapping->range = simulated.addresses().reserve(size, page_bytes);
    if (!mapping->range) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mapping->base = mapping->range->base();
    mapping->block = std::make_shared<Block>(pool->arena, size,
                                             simulated.node().devices[static_cast<std::size_t>(pool->of_node)].uuid,
                                             simulated.node().poison_bytes, Block::WhenFreed::Poison);
    if (!simulated.addresses().map(mapping)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = mapping->base;
    return CUDA_SUCCESS;
}

std::uint64_t bytes_of(const PoolObject& pool) {
    std::uint64_t sum = 0;
    for (const auto& mapping : process().addresses().all()) {
        sum += mapping->pool.get() == &pool ? mapping->bytes : 0;
    }
    return sum;
}

constexpr int last_flag_attribute = 3;
constexpr int release_threshold = 4;
constexpr int last_attribute = 8;

}  // namespace

std::shared_ptr<PoolObject> default_pool(CUdevice device) {
    const std::lock_guard lock(device_pools_mutex);
    return pools_of(device).own;
}

std::shared_ptr<PoolObject> find_pool(CUmemoryPool handle) {
    if (auto pool = driver().pools.find(handle)) {
        return pool;
    }
    const std::lock_guard lock(device_pools_mutex);
    for (const auto& [device, pools] : device_pools()) {
        if (pools.own.get() == handle) {
            return pools.own;
        }
    }
    return nullptr;
}

extern "C" {

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* wanted) {
    return call([&] {
        if (pool == nullptr || wanted == nullptr || wanted->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
            wanted->location.type != CU_MEM_LOCATION_TYPE_DEVICE || wanted->win32SecurityAttributes != nullptr ||
            std::any_of(std::begin(wanted->reserved), std::end(wanted->reserved),
                        [](unsigned char byte) { return byte != 0; })) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(wanted->location.id)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        if ((wanted->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        *pool = driver().pools.add(make_pool(*wanted));
        return CUDA_SUCCESS;
    });
}

// Its allocations stay until they are freed.
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return call([&] { return driver().pools.remove(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    return call([&] {
        if (pool == nullptr || !is_device(device)) {
            return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
        }
        *pool = default_pool(device).get();
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
    return call([&] {
        if (pool == nullptr || !is_device(device)) {
            return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(device_pools_mutex);
        *pool = pools_of(device).current.get();
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
    return call([&] {
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const auto pool = find_pool(handle);
        if (!pool || pool->imported || pool->properties.location.id != device) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const std::lock_guard lock(device_pools_mutex);
        pools_of(device).current = pool;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, int attribute, void* value) {
    return call([&] {
        const auto pool = find_pool(handle);
        if (!pool || value == nullptr || attribute < 1 || attribute > release_threshold) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::uint64_t word = 0;
        std::memcpy(&word, value, attribute <= last_flag_attribute ? sizeof(int) : sizeof(word));
        pool->attributes[static_cast<std::size_t>(attribute)].store(word);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, int attribute, void* value) {
    return call([&] {
        const auto pool = find_pool(handle);
        if (!pool || value == nullptr || attribute < 1 || attribute > last_attribute) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::uint64_t word = pool->attributes[static_cast<std::size_t>(attribute)].load();
        if (attribute > release_threshold) {
            word = bytes_of(*pool);
        }
        std::memcpy(value, &word, attribute <= last_flag_attribute ? sizeof(int) : sizeof(word));
        return CUDA_SUCCESS;
    });
}

// Nothing is kept of what was freed.
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t /*keep*/) {
    return call([&] { return find_pool(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

// For the allocations that there are and those to come.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions, std::size_t count) {
    return call([&] {
        const auto pool = find_pool(handle);
        if (!pool) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        CUresult why = CUDA_SUCCESS;
        const auto change = access_change(descriptions, count, pool->of_node, &why);
        if (!change) {
            return why;
        }
        if ((change->none & one_device(pool->of_node)) != 0) {
            return CUDA_ERROR_INVALID_DEVICE;  // a device cannot be shut out of its own pool
        }
        apply(*change, pool->readers, pool->writers);
        for (const auto& mapping : process().addresses().all()) {
            if (mapping->pool == pool) {
                apply(*change, mapping->readers, mapping->writers);
            }
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
    note_call(Call::Allocation);
    return call_with_context(
        [&](Context& context) { return allocate(context, address, bytes, find_pool(pool), stream); });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    note_call(Call::Allocation);
    return call_with_context([&](Context& context) {
        std::shared_ptr<PoolObject> pool;
        {
            const std::lock_guard lock(device_pools_mutex);
            pool = pools_of(context.ordinal).current;
        }
        return allocate(context, address, bytes, pool, stream);
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    return call_with_context([&](Context& context) {
        const auto mapping = find_mapping(address);
        const auto stream = find_stream(context, handle);
        const bool of_pool =
            mapping && (mapping->kind == MemoryKind::Pool || mapping->kind == MemoryKind::ImportedPool);
        if (!of_pool || mapping->base != address) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!stream) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        submit(*stream, [mapping] {
            process().addresses().remove(mapping);
            return Result::Ok;
        });
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
