// SPDX-License-Identifier: BSD-3-Clause
// Built where cuda.h is installed: our declarations are those of the toolkit.
#include "tests/conformance/cuda/driver_api.hpp"

#include <cuda.h>

#include <cstddef>

namespace ours = peercoll::conformance::cuda;

static_assert(sizeof(ours::CUdevice) == sizeof(CUdevice) && sizeof(ours::CUdeviceptr) == sizeof(CUdeviceptr));
static_assert(sizeof(ours::CUresult) == sizeof(CUresult) && sizeof(ours::CUuuid) == sizeof(CUuuid));
static_assert(sizeof(ours::CUmemGenericAllocationHandle) == sizeof(CUmemGenericAllocationHandle));
static_assert(sizeof(ours::CUipcMemHandle) == sizeof(CUipcMemHandle));
static_assert(sizeof(ours::CUipcEventHandle) == sizeof(CUipcEventHandle));
static_assert(sizeof(ours::CUmemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData));
static_assert(sizeof(ours::CUmemAllocationProp) == sizeof(CUmemAllocationProp));
static_assert(offsetof(ours::CUmemAllocationProp, requested_handle_types) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(ours::CUmemAllocationProp, location) == offsetof(CUmemAllocationProp, location));
static_assert(sizeof(ours::CUmemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(offsetof(ours::CUmemAccessDesc, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(ours::CUmemPoolProps) == sizeof(CUmemPoolProps));
static_assert(offsetof(ours::CUmemPoolProps, handle_types) == offsetof(CUmemPoolProps, handleTypes));
static_assert(offsetof(ours::CUmemPoolProps, location) == offsetof(CUmemPoolProps, location));

static_assert(ours::invalid_value == static_cast<int>(CUDA_ERROR_INVALID_VALUE));
static_assert(ours::not_initialized == static_cast<int>(CUDA_ERROR_NOT_INITIALIZED));
static_assert(ours::invalid_device == static_cast<int>(CUDA_ERROR_INVALID_DEVICE));
static_assert(ours::invalid_image == static_cast<int>(CUDA_ERROR_INVALID_IMAGE));
static_assert(ours::invalid_context == static_cast<int>(CUDA_ERROR_INVALID_CONTEXT));
static_assert(ours::peer_access_unsupported == static_cast<int>(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
static_assert(ours::not_found == static_cast<int>(CUDA_ERROR_NOT_FOUND));
static_assert(ours::not_ready == static_cast<int>(CUDA_ERROR_NOT_READY));
static_assert(ours::illegal_address == static_cast<int>(CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(ours::peer_access_already_enabled == static_cast<int>(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(ours::peer_access_not_enabled == static_cast<int>(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED));
static_assert(ours::host_memory_already_registered == static_cast<int>(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(ours::host_memory_not_registered == static_cast<int>(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
static_assert(ours::not_supported == static_cast<int>(CUDA_ERROR_NOT_SUPPORTED));

static_assert(ours::attribute_memory_type == static_cast<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
static_assert(ours::attribute_sync_memops == static_cast<int>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS));
static_assert(ours::attribute_buffer_id == static_cast<int>(CU_POINTER_ATTRIBUTE_BUFFER_ID));
static_assert(ours::attribute_is_managed == static_cast<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED));
static_assert(ours::attribute_device_ordinal == static_cast<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(ours::attribute_is_legacy_ipc_capable ==
              static_cast<int>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE));
static_assert(ours::attribute_mapped == static_cast<int>(CU_POINTER_ATTRIBUTE_MAPPED));
static_assert(ours::attribute_allowed_handle_types == static_cast<int>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES));
static_assert(ours::attribute_mempool_handle == static_cast<int>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE));

static_assert(ours::device_unified_addressing == static_cast<int>(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING));
static_assert(ours::device_vmm_supported == static_cast<int>(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
static_assert(ours::device_posix_fd_supported ==
              static_cast<int>(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
static_assert(ours::device_memory_pools_supported == static_cast<int>(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
static_assert(ours::device_64_bit_stream_mem_ops ==
              static_cast<int>(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS));
static_assert(ours::device_ipc_events_supported == static_cast<int>(CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED));

static_assert(ours::ipc_lazy_enable_peer_access == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(ours::stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(ours::event_disable_timing == CU_EVENT_DISABLE_TIMING);
static_assert(ours::event_interprocess == CU_EVENT_INTERPROCESS);
static_assert(ours::host_register_portable_mapped == (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
static_assert(ours::managed_attach_global == CU_MEM_ATTACH_GLOBAL);
static_assert(ours::wait_value_geq == CU_STREAM_WAIT_VALUE_GEQ);
static_assert(ours::handle_posix_fd == static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
static_assert(ours::handle_fabric == static_cast<int>(CU_MEM_HANDLE_TYPE_FABRIC));
static_assert(ours::location_device == static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE));
static_assert(ours::allocation_pinned == static_cast<int>(CU_MEM_ALLOCATION_TYPE_PINNED));
static_assert(ours::access_read_write == static_cast<int>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
