// SPDX-License-Identifier: BSD-3-Clause
// The part of the CUDA driver's ABI that the suite calls, declared here so that it builds without a toolkit. Only what
// never changes between CUDA 11.4 and 13: entry points are found by their versioned names (driver.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::conformance::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUmemGenericAllocationHandle = unsigned long long;
using CUhostFn = void (*)(void*);

struct CUuuid {
    unsigned char bytes[16];
};
struct CUipcMemHandle {
    unsigned char bytes[64];
};
struct CUipcEventHandle {
    unsigned char bytes[64];
};
struct CUmemPoolPtrExportData {
    unsigned char bytes[64];
};
struct CUmemLocation {
    int type;
    int id;
};
struct CUmemAllocationProp {
    int type;
    int requested_handle_types;
    CUmemLocation location;
    void* win32_handle_meta_data;
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
};
struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
};
struct CUmemPoolProps {
    int alloc_type;
    int handle_types;
    CUmemLocation location;
    void* win32_security_attributes;
    unsigned char reserved[64];
};
static_assert(sizeof(CUmemAllocationProp) == 32 && sizeof(CUmemAccessDesc) == 12 && sizeof(CUmemPoolProps) == 88);

enum Result : CUresult {
    success = 0,
    invalid_value = 1,
    not_initialized = 3,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    peer_access_unsupported = 217,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    peer_access_already_enabled = 704,
    peer_access_not_enabled = 705,
    host_memory_already_registered = 712,
    host_memory_not_registered = 713,
    not_supported = 801,
};

enum PointerAttribute : int {
    attribute_context = 1,
    attribute_memory_type = 2,
    attribute_sync_memops = 6,
    attribute_buffer_id = 7,
    attribute_is_managed = 8,
    attribute_device_ordinal = 9,
    attribute_is_legacy_ipc_capable = 10,
    attribute_mapped = 13,
    attribute_allowed_handle_types = 14,
    attribute_mempool_handle = 17,
};

enum DeviceAttribute : int {
    device_unified_addressing = 41,
    device_vmm_supported = 102,
    device_posix_fd_supported = 103,
    device_memory_pools_supported = 115,
    device_64_bit_stream_mem_ops = 122,
    device_ipc_events_supported = 125,
};

constexpr unsigned int ipc_lazy_enable_peer_access = 1;
constexpr unsigned int stream_non_blocking = 1;
constexpr unsigned int event_disable_timing = 2;
constexpr unsigned int event_interprocess = 4;
constexpr unsigned int host_register_portable_mapped = 3;
constexpr unsigned int managed_attach_global = 1;
constexpr unsigned int wait_value_geq = 0;
constexpr int handle_none = 0;
constexpr int handle_posix_fd = 1;
constexpr int handle_fabric = 8;
constexpr int location_device = 1;
constexpr int allocation_pinned = 1;
constexpr int access_read_write = 3;

}  // namespace peercoll::conformance::cuda
