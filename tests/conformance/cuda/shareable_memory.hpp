// SPDX-License-Identifier: BSD-3-Clause
// Memory that is shared by descriptors: physical allocations mapped into a reserved range (VMM), and pools.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"

namespace peercoll::conformance::cuda {

CUmemAllocationProp allocation_on(CUdevice device, int handle_types);
CUmemPoolProps pool_on(CUdevice device, int handle_types);
CUmemAccessDesc read_write_from(CUdevice device);

// Imports take a descriptor where others take a pointer.
void* as_os_handle(int descriptor);

// A physical allocation, mapped and accessible to one device.
class MappedAllocation {
public:
    // Rounded up to the granularity.
    MappedAllocation(const Gpu& gpu, std::size_t bytes, int handle_types);
    // Takes `handle`, of `bytes` bytes, that another process exported.
    MappedAllocation(CUdevice device, CUmemGenericAllocationHandle handle, std::size_t bytes);
    ~MappedAllocation();
    MappedAllocation(const MappedAllocation&) = delete;
    MappedAllocation& operator=(const MappedAllocation&) = delete;

    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    CUmemGenericAllocationHandle handle() const { return handle_; }

private:
    void map(CUdevice device);

    CUmemGenericAllocationHandle handle_ = 0;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
};

class Pool {
public:
    Pool(const Gpu& gpu, int handle_types);
    explicit Pool(CUmemoryPool imported) : pool_(imported) {}
    ~Pool() { driver().cuMemPoolDestroy(pool_); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    CUmemoryPool get() const { return pool_; }

private:
    CUmemoryPool pool_ = nullptr;
};

// Stream-ordered memory, ready when made; of the device's default pool unless one is given.
class StreamOrderedMemory {
public:
    explicit StreamOrderedMemory(std::size_t bytes, const Pool* pool = nullptr);
    ~StreamOrderedMemory();
    StreamOrderedMemory(const StreamOrderedMemory&) = delete;
    StreamOrderedMemory& operator=(const StreamOrderedMemory&) = delete;

    CUdeviceptr address() const { return address_; }

private:
    Stream stream_;
    CUdeviceptr address_ = 0;
};

}  // namespace peercoll::conformance::cuda
