// SPDX-License-Identifier: BSD-3-Clause
// Pools of other processes: the pool by a descriptor, once, and each of its allocations by 64 bytes.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/pools.hpp"
#include "tests/simulated_devices/cuda/virtual_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace peercoll::simulator::cuda {

namespace {

struct PointerContents {
    std::uint64_t magic;
    std::uint64_t id;
    std::uint64_t offset;
    std::uint64_t bytes;
};
static_assert(sizeof(PointerContents) <= sizeof(CUmemPoolPtrExportData));

constexpr std::uint64_t pointer_magic = 0x70636c6c706f696e;

bool can_be_shared(const PoolObject& pool) {
    return !pool.of_driver && !pool.imported &&
           (pool.properties.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
}

}  // namespace

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* result, CUmemoryPool handle, int type, unsigned long long flags) {
    return call([&] {
        const auto pool = find_pool(handle);
        if (result == nullptr || !pool || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
            !can_be_shared(*pool)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const int descriptor = ::fcntl(pool->arena->descriptor(), F_DUPFD_CLOEXEC, 0);
        if (descriptor < 0) {
            return CUDA_ERROR_OPERATING_SYSTEM;
        }
        *static_cast<int*>(result) = descriptor;
        pool->exported.store(true);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* result, void* os_handle, int type, unsigned long long flags) {
    return call([&] {
        if (result == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        Descriptor file = duplicate(static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle)));
        PoolHeader header = {};
        if (!file || ::pread(file.number(), &header, sizeof(header), 0) != sizeof(header) ||
            header.magic != pool_magic) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const int of_node = process().node().device_with_uuid(header.device);
        if (!may_import(of_node)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        auto pool = std::make_shared<PoolObject>();
        pool->properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        pool->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal_of(shown_device(of_node))};
        pool->of_node = of_node;
        pool->arena = std::make_shared<Arena>(std::move(file));
        pool->imported = true;
        pool->readers.store(one_device(of_node));
        pool->writers.store(one_device(of_node));
        *result = driver().pools.add(std::move(pool));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr address) {
    note_call(Call::Export);
    return call([&] {
        const auto mapping = find_mapping(address);
        if (data == nullptr || !mapping || mapping->kind != MemoryKind::Pool) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto pool = std::static_pointer_cast<PoolObject>(mapping->pool);
        if (!can_be_shared(*pool) || !pool->exported.load()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const PointerContents contents = {pointer_magic, mapping->block->id(), mapping->block->offset(),
                                          mapping->bytes};
        *data = {};
        std::memcpy(data, &contents, sizeof(contents));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
    note_call(Call::Import);
    return call([&] {
        const auto pool = find_pool(handle);
        if (address == nullptr || data == nullptr || !pool || !pool->imported) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        PointerContents contents = {};
        std::memcpy(&contents, data, sizeof(contents));
        const auto block = contents.magic == pointer_magic && contents.id != 0
                               ? Block::open(pool->arena, contents.offset, contents.id)
                               : nullptr;
        if (!block || contents.bytes > block->bytes()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        auto mapping = std::make_shared<Mapping>();
        mapping->kind = MemoryKind::ImportedPool;
        mapping->bytes = contents.bytes;
        mapping->device = shown_device(pool->of_node);
        mapping->physical_device = pool->of_node;
        mapping->pool = pool;
        mapping->readers.store(pool->readers.load());
        mapping->writers.store(pool->writers.load());
        mapping->block = block;
        mapping->range = process().addresses().reserve(block->bytes(), granularity);
        if (!mapping->range) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        mapping->base = mapping->range->base();
        if (!process().addresses().map(mapping)) {
            return CUDA_ERROR_MAP_FAILED;
        }
        *address = mapping->base;
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
