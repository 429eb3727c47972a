// SPDX-License-Identifier: BSD-3-Clause
// Types and constants of the CUDA driver API, declared by hand so that neither a toolkit nor a driver is needed to
// build. tests/unit/cuda_device/ compares them with cuda.h where that is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::cuda {

using CuResult = int;
using CuDevice = int;
using CuAddress = unsigned long long;     // CUdeviceptr
using CuAllocation = unsigned long long;  // CUmemGenericAllocationHandle
using CuContext = struct CuContextObject*;
using CuStream = struct CuStreamObject*;
using CuEvent = struct CuEventObject*;
using CuModule = struct CuModuleObject*;
using CuFunction = struct CuFunctionObject*;
using CuMemoryPool = struct CuMemoryPoolObject*;

struct CuUuid {
    char bytes[16];
};
struct CuIpcHandle {
    char bytes[64];
};
struct CuPoolPointer {  // CUmemPoolPtrExportData
    unsigned char bytes[64];
};
struct CuFabricHandle {
    unsigned char bytes[64];
};
struct CuLocation {
    int type;
    int id;
};
struct CuAccess {  // CUmemAccessDesc
    CuLocation location;
    int flags;
};
struct CuAllocationProperties {  // CUmemAllocationProp
    int type;
    int handle_types;
    CuLocation location;
    void* windows_attributes;
    unsigned char flags[8];
};
static_assert(sizeof(CuAccess) == 12 && sizeof(CuAllocationProperties) == 32);

namespace code {
constexpr CuResult success = 0;
constexpr CuResult invalid_value = 1;
constexpr CuResult out_of_memory = 2;
constexpr CuResult not_initialized = 3;
constexpr CuResult deinitialized = 4;
constexpr CuResult stub_library = 34;
constexpr CuResult no_device = 100;
constexpr CuResult invalid_device = 101;
constexpr CuResult invalid_context = 201;
constexpr CuResult already_mapped = 208;
constexpr CuResult peer_access_unsupported = 217;
constexpr CuResult not_found = 500;
constexpr CuResult not_ready = 600;
constexpr CuResult illegal_address = 700;
constexpr CuResult launch_timeout = 702;
constexpr CuResult peer_access_already_enabled = 704;
constexpr CuResult peer_access_not_enabled = 705;
constexpr CuResult context_is_destroyed = 709;
constexpr CuResult too_many_peers = 711;
constexpr CuResult host_memory_already_registered = 712;
constexpr CuResult hardware_stack_error = 714;
constexpr CuResult illegal_instruction = 715;
constexpr CuResult misaligned_address = 716;
constexpr CuResult invalid_address_space = 717;
constexpr CuResult invalid_pc = 718;
constexpr CuResult launch_failed = 719;
constexpr CuResult not_permitted = 800;
constexpr CuResult not_supported = 801;
constexpr CuResult system_not_ready = 802;
constexpr CuResult system_driver_mismatch = 803;
constexpr CuResult unknown = 999;
}  // namespace code

namespace pointer_attribute {
constexpr int memory_type = 2;
constexpr int sync_memops = 6;
constexpr int buffer_id = 7;
constexpr int is_managed = 8;
constexpr int device_ordinal = 9;
constexpr int is_legacy_ipc_capable = 10;
constexpr int mapped = 13;
constexpr int allowed_handle_types = 14;
constexpr int mempool_handle = 17;
}  // namespace pointer_attribute

namespace device_attribute {
constexpr int multiprocessor_count = 16;
constexpr int unified_addressing = 41;
constexpr int compute_capability_major = 75;
constexpr int compute_capability_minor = 76;
constexpr int virtual_memory_management = 102;
constexpr int posix_fd_handles = 103;
constexpr int memory_pools = 115;
constexpr int mempool_handle_types = 119;
constexpr int stream_write_value_64 = 122;
constexpr int fabric_handles = 128;
}  // namespace device_attribute

constexpr unsigned memory_type_host = 1;
constexpr unsigned memory_type_device = 2;
constexpr int handle_type_posix_fd = 1;
constexpr int handle_type_fabric = 8;
constexpr unsigned ipc_lazy_peer_access = 1;
constexpr unsigned stream_non_blocking = 1;
constexpr unsigned event_disable_timing = 2;
constexpr unsigned host_portable = 1;  // of cuMemHostAlloc and cuMemHostRegister alike
constexpr unsigned host_mapped = 2;
constexpr int location_device = 1;
constexpr int access_read_write = 3;
constexpr int granularity_minimum = 0;
constexpr int capture_mode_relaxed = 2;
// The stream that "synchronous" calls of an application use unless it was compiled for per-thread ones:
// CU_STREAM_LEGACY.
constexpr std::uintptr_t legacy_stream = 1;

}  // namespace peercoll::cuda
