// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/shareable_memory.hpp"

namespace peercoll::conformance::cuda {

CUmemAllocationProp allocation_on(CUdevice device, int handle_types) {
    CUmemAllocationProp properties{};
    properties.type = allocation_pinned;
    properties.requested_handle_types = handle_types;
    properties.location = {location_device, device};
    return properties;
}

CUmemPoolProps pool_on(CUdevice device, int handle_types) {
    CUmemPoolProps properties{};
    properties.alloc_type = allocation_pinned;
    properties.handle_types = handle_types;
    properties.location = {location_device, device};
    return properties;
}

CUmemAccessDesc read_write_from(CUdevice device) {
    return {{location_device, device}, access_read_write};
}

void* as_os_handle(int descriptor) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(static_cast<unsigned>(descriptor)));
}

MappedAllocation::MappedAllocation(const Gpu& gpu, std::size_t bytes, int handle_types) {
    const CUmemAllocationProp properties = allocation_on(gpu.device(), handle_types);
    std::size_t granularity = 0;
    need("cuMemGetAllocationGranularity", driver().cuMemGetAllocationGranularity(&granularity, &properties, 0));
    bytes_ = (bytes + granularity - 1) / granularity * granularity;
    need("cuMemCreate", driver().cuMemCreate(&handle_, bytes_, &properties, 0));
    map(gpu.device());
}

MappedAllocation::MappedAllocation(CUdevice device, CUmemGenericAllocationHandle handle, std::size_t bytes)
    : handle_(handle), bytes_(bytes) {
    map(device);
}

void MappedAllocation::map(CUdevice device) {
    const CUmemAccessDesc access = read_write_from(device);
    need("cuMemAddressReserve", driver().cuMemAddressReserve(&address_, bytes_, 0, 0, 0));
    need("cuMemMap", driver().cuMemMap(address_, bytes_, 0, handle_, 0));
    need("cuMemSetAccess", driver().cuMemSetAccess(address_, bytes_, &access, 1));
}

MappedAllocation::~MappedAllocation() {
    driver().cuMemUnmap(address_, bytes_);
    driver().cuMemAddressFree(address_, bytes_);
    driver().cuMemRelease(handle_);
}

Pool::Pool(const Gpu& gpu, int handle_types) {
    const CUmemPoolProps properties = pool_on(gpu.device(), handle_types);
    need("cuMemPoolCreate", driver().cuMemPoolCreate(&pool_, &properties));
}

StreamOrderedMemory::StreamOrderedMemory(std::size_t bytes, const Pool* pool) {
    if (pool == nullptr)
        need("cuMemAllocAsync", driver().cuMemAllocAsync(&address_, bytes, stream_.get()));
    else
        need("cuMemAllocFromPoolAsync", driver().cuMemAllocFromPoolAsync(&address_, bytes, pool->get(), stream_.get()));
    need("cuStreamSynchronize", stream_.synchronize());
}

StreamOrderedMemory::~StreamOrderedMemory() {
    driver().cuMemFreeAsync(address_, stream_.get());
    stream_.synchronize();
}

}  // namespace peercoll::conformance::cuda
