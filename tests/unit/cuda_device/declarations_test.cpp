// SPDX-License-Identifier: BSD-3-Clause
// Our declarations of the driver's functions against those of a toolkit: the compiler is the test.
#include "plugin/device/cuda/driver_api.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace peercoll::cuda {
namespace {

// A type as a function is called with it: enumerations are int, opaque objects are void, structs are their size.
template <std::size_t size, std::size_t alignment>
struct Bytes;

template <typename Type>
concept Complete = requires {
    sizeof(Type);
};

template <typename Type>
struct Plain {
    using type = Type;
};
template <typename Type>
using PlainType = typename Plain<Type>::type;

template <typename Type>
requires std::is_enum_v<Type>
struct Plain<Type> {
    using type = int;
};
template <typename Type>
requires(std::is_class_v<Type>&& Complete<Type>) struct Plain<Type> {
    using type = Bytes<sizeof(Type), alignof(Type)>;
};
template <typename Type>
requires(std::is_class_v<Type> && !Complete<Type>) struct Plain<Type> {
    using type = void;
};
template <>
struct Plain<unsigned long> {  // std::size_t and std::uint64_t, which toolkits call unsigned long long
    using type = unsigned long long;
};
template <typename Type>
struct Plain<const Type> {
    using type = const PlainType<Type>;
};
template <typename Type>
struct Plain<Type*> {
    using type = PlainType<Type>*;
};
template <typename Result, typename... Arguments>
struct Plain<Result (*)(Arguments...)> {
    using type = PlainType<Result> (*)(PlainType<Arguments>...);
};

template <typename Ours, typename Toolkits>
constexpr bool agree = std::is_same_v<PlainType<Ours>, PlainType<Toolkits>>;

using F = DriverFunctions;
static_assert(agree<decltype(F::init), PFN_cuInit_v2000>);
static_assert(agree<decltype(F::driver_get_version), PFN_cuDriverGetVersion_v2020>);
static_assert(agree<decltype(F::get_error_name), PFN_cuGetErrorName_v6000>);
static_assert(agree<decltype(F::get_error_string), PFN_cuGetErrorString_v6000>);
static_assert(agree<decltype(F::device_get_count), PFN_cuDeviceGetCount_v2000>);
static_assert(agree<decltype(F::device_get), PFN_cuDeviceGet_v2000>);
static_assert(agree<decltype(F::device_get_name), PFN_cuDeviceGetName_v2000>);
static_assert(agree<decltype(F::device_get_attribute), PFN_cuDeviceGetAttribute_v2000>);
static_assert(agree<decltype(F::device_total_memory), PFN_cuDeviceTotalMem_v3020>);
static_assert(agree<decltype(F::device_get_uuid), PFN_cuDeviceGetUuid_v11040>);
static_assert(agree<decltype(F::device_get_pci_id), PFN_cuDeviceGetPCIBusId_v4010>);
static_assert(agree<decltype(F::device_can_access_peer), PFN_cuDeviceCanAccessPeer_v4000>);
static_assert(agree<decltype(F::primary_context_get_state), PFN_cuDevicePrimaryCtxGetState_v7000>);
static_assert(agree<decltype(F::primary_context_retain), PFN_cuDevicePrimaryCtxRetain_v7000>);
static_assert(agree<decltype(F::primary_context_release), PFN_cuDevicePrimaryCtxRelease_v11000>);
static_assert(agree<decltype(F::context_get_current), PFN_cuCtxGetCurrent_v4000>);
static_assert(agree<decltype(F::context_push), PFN_cuCtxPushCurrent_v4000>);
static_assert(agree<decltype(F::context_pop), PFN_cuCtxPopCurrent_v4000>);
static_assert(agree<decltype(F::context_enable_peer), PFN_cuCtxEnablePeerAccess_v4000>);
static_assert(agree<decltype(F::context_disable_peer), PFN_cuCtxDisablePeerAccess_v4000>);
static_assert(agree<decltype(F::pointer_get_attribute), PFN_cuPointerGetAttribute_v4000>);
static_assert(agree<decltype(F::pointer_get_attributes), PFN_cuPointerGetAttributes_v7000>);
static_assert(agree<decltype(F::pointer_set_attribute), PFN_cuPointerSetAttribute_v6000>);
static_assert(agree<decltype(F::memory_get_address_range), PFN_cuMemGetAddressRange_v3020>);
static_assert(agree<decltype(F::memory_allocate), PFN_cuMemAlloc_v3020>);
static_assert(agree<decltype(F::memory_free), PFN_cuMemFree_v3020>);
static_assert(agree<decltype(F::host_allocate), PFN_cuMemHostAlloc_v2020>);
static_assert(agree<decltype(F::host_free), PFN_cuMemFreeHost_v2000>);
static_assert(agree<decltype(F::host_register), PFN_cuMemHostRegister_v6050>);
static_assert(agree<decltype(F::host_unregister), PFN_cuMemHostUnregister_v4000>);
static_assert(agree<decltype(F::host_get_device_address), PFN_cuMemHostGetDevicePointer_v3020>);
static_assert(agree<decltype(F::memory_copy_async), PFN_cuMemcpyAsync_v4000>);
static_assert(agree<decltype(F::memory_set_async), PFN_cuMemsetD8Async_v3020>);
static_assert(agree<decltype(F::stream_create), PFN_cuStreamCreate_v2000>);
static_assert(agree<decltype(F::stream_destroy), PFN_cuStreamDestroy_v4000>);
static_assert(agree<decltype(F::stream_query), PFN_cuStreamQuery_v2000>);
static_assert(agree<decltype(F::stream_synchronize), PFN_cuStreamSynchronize_v2000>);
static_assert(agree<decltype(F::stream_wait_event), PFN_cuStreamWaitEvent_v3020>);
static_assert(agree<decltype(F::event_create), PFN_cuEventCreate_v2000>);
static_assert(agree<decltype(F::event_destroy), PFN_cuEventDestroy_v4000>);
static_assert(agree<decltype(F::event_record), PFN_cuEventRecord_v2000>);
static_assert(agree<decltype(F::event_query), PFN_cuEventQuery_v2000>);
static_assert(agree<decltype(F::event_synchronize), PFN_cuEventSynchronize_v2000>);
static_assert(agree<decltype(F::ipc_get_handle), PFN_cuIpcGetMemHandle_v4010>);
static_assert(agree<decltype(F::ipc_open_handle), PFN_cuIpcOpenMemHandle_v11000>);
static_assert(agree<decltype(F::ipc_close_handle), PFN_cuIpcCloseMemHandle_v4010>);
static_assert(agree<decltype(F::module_load_data), PFN_cuModuleLoadData_v2000>);
static_assert(agree<decltype(F::module_unload), PFN_cuModuleUnload_v2000>);
static_assert(agree<decltype(F::module_get_function), PFN_cuModuleGetFunction_v2000>);
static_assert(agree<decltype(F::launch_kernel), PFN_cuLaunchKernel_v4000>);
static_assert(agree<decltype(F::exchange_capture_mode), PFN_cuThreadExchangeStreamCaptureMode_v10010>);
static_assert(agree<decltype(F::allocation_retain), PFN_cuMemRetainAllocationHandle_v11000>);
static_assert(agree<decltype(F::allocation_release), PFN_cuMemRelease_v10020>);
static_assert(agree<decltype(F::allocation_get_properties), PFN_cuMemGetAllocationPropertiesFromHandle_v10020>);
static_assert(agree<decltype(F::allocation_get_granularity), PFN_cuMemGetAllocationGranularity_v10020>);
static_assert(agree<decltype(F::allocation_export), PFN_cuMemExportToShareableHandle_v10020>);
static_assert(agree<decltype(F::allocation_import), PFN_cuMemImportFromShareableHandle_v10020>);
static_assert(agree<decltype(F::address_reserve), PFN_cuMemAddressReserve_v10020>);
static_assert(agree<decltype(F::address_free), PFN_cuMemAddressFree_v10020>);
static_assert(agree<decltype(F::memory_map), PFN_cuMemMap_v10020>);
static_assert(agree<decltype(F::memory_unmap), PFN_cuMemUnmap_v10020>);
static_assert(agree<decltype(F::memory_set_access), PFN_cuMemSetAccess_v10020>);
static_assert(agree<decltype(F::pool_export), PFN_cuMemPoolExportToShareableHandle_v11020>);
static_assert(agree<decltype(F::pool_import), PFN_cuMemPoolImportFromShareableHandle_v11020>);
static_assert(agree<decltype(F::pool_export_pointer), PFN_cuMemPoolExportPointer_v11020>);
static_assert(agree<decltype(F::pool_import_pointer), PFN_cuMemPoolImportPointer_v11020>);
static_assert(agree<decltype(F::pool_set_access), PFN_cuMemPoolSetAccess_v11020>);
static_assert(agree<decltype(F::pool_destroy), PFN_cuMemPoolDestroy_v11020>);
static_assert(agree<decltype(F::stream_write_value_64), PFN_cuStreamWriteValue64_v11070>);

static_assert(code::stub_library == CUDA_ERROR_STUB_LIBRARY && code::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(code::deinitialized == CUDA_ERROR_DEINITIALIZED && code::unknown == CUDA_ERROR_UNKNOWN);
static_assert(code::not_initialized == CUDA_ERROR_NOT_INITIALIZED && code::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(code::invalid_value == CUDA_ERROR_INVALID_VALUE && code::invalid_device == CUDA_ERROR_INVALID_DEVICE);
static_assert(code::invalid_context == CUDA_ERROR_INVALID_CONTEXT && code::not_ready == CUDA_ERROR_NOT_READY);
static_assert(code::already_mapped == CUDA_ERROR_ALREADY_MAPPED && code::too_many_peers == CUDA_ERROR_TOO_MANY_PEERS);
static_assert(code::peer_access_unsupported == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
static_assert(code::peer_access_already_enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(code::peer_access_not_enabled == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
static_assert(code::context_is_destroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(code::host_memory_already_registered == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
static_assert(code::illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS && code::launch_failed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(code::launch_timeout == CUDA_ERROR_LAUNCH_TIMEOUT && code::invalid_pc == CUDA_ERROR_INVALID_PC);
static_assert(code::hardware_stack_error == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(code::illegal_instruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(code::misaligned_address == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(code::invalid_address_space == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(code::not_permitted == CUDA_ERROR_NOT_PERMITTED && code::not_supported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(code::system_not_ready == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(code::system_driver_mismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);

static_assert(pointer_attribute::memory_type == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(pointer_attribute::sync_memops == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
static_assert(pointer_attribute::buffer_id == CU_POINTER_ATTRIBUTE_BUFFER_ID);
static_assert(pointer_attribute::is_managed == CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(pointer_attribute::device_ordinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(pointer_attribute::is_legacy_ipc_capable == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
static_assert(pointer_attribute::mapped == CU_POINTER_ATTRIBUTE_MAPPED);
static_assert(pointer_attribute::allowed_handle_types == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES);
static_assert(pointer_attribute::mempool_handle == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);

static_assert(device_attribute::multiprocessor_count == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(device_attribute::unified_addressing == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
static_assert(device_attribute::compute_capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(device_attribute::compute_capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(device_attribute::virtual_memory_management == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
static_assert(device_attribute::posix_fd_handles == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
static_assert(device_attribute::memory_pools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(device_attribute::mempool_handle_types == CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
static_assert(device_attribute::stream_write_value_64 == CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
static_assert(device_attribute::fabric_handles == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);

static_assert(memory_type_host == CU_MEMORYTYPE_HOST && memory_type_device == CU_MEMORYTYPE_DEVICE);
static_assert(handle_type_posix_fd == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(handle_type_fabric == CU_MEM_HANDLE_TYPE_FABRIC);
static_assert(ipc_lazy_peer_access == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(stream_non_blocking == CU_STREAM_NON_BLOCKING && event_disable_timing == CU_EVENT_DISABLE_TIMING);
static_assert(host_portable == CU_MEMHOSTALLOC_PORTABLE && host_portable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(host_mapped == CU_MEMHOSTALLOC_DEVICEMAP && host_mapped == CU_MEMHOSTREGISTER_DEVICEMAP);
static_assert(location_device == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(access_read_write == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(granularity_minimum == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(capture_mode_relaxed == CU_STREAM_CAPTURE_MODE_RELAXED);

// What a constant expression cannot compare.
TEST(Declarations, OfTheLegacyStreamAndTheLayoutOfStructsAreTheToolkits) {
    EXPECT_EQ(reinterpret_cast<CUstream>(legacy_stream), CU_STREAM_LEGACY);
    EXPECT_EQ(offsetof(CuAllocationProperties, handle_types), offsetof(CUmemAllocationProp, requestedHandleTypes));
    EXPECT_EQ(offsetof(CuAllocationProperties, location), offsetof(CUmemAllocationProp, location));
    EXPECT_EQ(offsetof(CuAllocationProperties, flags), offsetof(CUmemAllocationProp, allocFlags));
    EXPECT_EQ(offsetof(CuAccess, flags), offsetof(CUmemAccessDesc, flags));
    EXPECT_EQ(offsetof(CuLocation, id), offsetof(CUmemLocation, id));
}

}  // namespace
}  // namespace peercoll::cuda
