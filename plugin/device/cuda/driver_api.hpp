// SPDX-License-Identifier: BSD-3-Clause
// The functions of the CUDA driver that we call, found in the library this process has loaded already. Versioned names:
// the plain name of many of them is an older function with another signature.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/cuda/driver_types.hpp"

#include <memory>

namespace peercoll::cuda {

struct DriverFunctions {
    CuResult (*init)(unsigned flags);
    CuResult (*driver_get_version)(int* version);
    CuResult (*get_error_name)(CuResult error, const char** text);
    CuResult (*get_error_string)(CuResult error, const char** text);

    CuResult (*device_get_count)(int* count);
    CuResult (*device_get)(CuDevice* device, int ordinal);
    CuResult (*device_get_name)(char* name, int bytes, CuDevice device);
    CuResult (*device_get_attribute)(int* value, int attribute, CuDevice device);
    CuResult (*device_total_memory)(std::size_t* bytes, CuDevice device);
    CuResult (*device_get_uuid)(CuUuid* uuid, CuDevice device);
    CuResult (*device_get_pci_id)(char* id, int bytes, CuDevice device);
    CuResult (*device_can_access_peer)(int* can, CuDevice device, CuDevice peer);

    CuResult (*primary_context_get_state)(CuDevice device, unsigned* flags, int* active);
    CuResult (*primary_context_retain)(CuContext* context, CuDevice device);
    CuResult (*primary_context_release)(CuDevice device);
    CuResult (*context_get_current)(CuContext* context);
    CuResult (*context_push)(CuContext context);
    CuResult (*context_pop)(CuContext* context);
    CuResult (*context_synchronize)();
    CuResult (*context_enable_peer)(CuContext peer, unsigned flags);
    CuResult (*context_disable_peer)(CuContext peer);

    CuResult (*pointer_get_attribute)(void* value, int attribute, CuAddress address);
    CuResult (*pointer_get_attributes)(unsigned count, int* attributes, void** values, CuAddress address);
    CuResult (*pointer_set_attribute)(const void* value, int attribute, CuAddress address);
    CuResult (*memory_get_address_range)(CuAddress* base, std::size_t* bytes, CuAddress address);
    CuResult (*memory_allocate)(CuAddress* address, std::size_t bytes);
    CuResult (*memory_free)(CuAddress address);
    CuResult (*host_allocate)(void** address, std::size_t bytes, unsigned flags);
    CuResult (*host_free)(void* address);
    CuResult (*host_register)(void* address, std::size_t bytes, unsigned flags);
    CuResult (*host_unregister)(void* address);
    CuResult (*host_get_device_address)(CuAddress* device_address, void* address, unsigned flags);

    CuResult (*memory_copy_async)(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream);
    CuResult (*memory_set_async)(CuAddress address, unsigned char value, std::size_t bytes, CuStream stream);
    CuResult (*stream_create)(CuStream* stream, unsigned flags);
    CuResult (*stream_destroy)(CuStream stream);
    CuResult (*stream_query)(CuStream stream);
    CuResult (*stream_synchronize)(CuStream stream);
    CuResult (*stream_wait_event)(CuStream stream, CuEvent event, unsigned flags);
    CuResult (*event_create)(CuEvent* event, unsigned flags);
    CuResult (*event_destroy)(CuEvent event);
    CuResult (*event_record)(CuEvent event, CuStream stream);
    CuResult (*event_query)(CuEvent event);
    CuResult (*event_synchronize)(CuEvent event);

    CuResult (*ipc_get_handle)(CuIpcHandle* handle, CuAddress address);
    CuResult (*ipc_open_handle)(CuAddress* address, CuIpcHandle handle, unsigned flags);
    CuResult (*ipc_close_handle)(CuAddress address);

    CuResult (*module_load_data)(CuModule* module, const void* image);
    CuResult (*module_unload)(CuModule module);
    CuResult (*module_get_function)(CuFunction* function, CuModule module, const char* name);
    CuResult (*launch_kernel)(CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream,
                              void** parameters, void** extra);

    // What older drivers, or small ones, do not have: NULL then.
    CuResult (*exchange_capture_mode)(int* mode);
    CuResult (*allocation_retain)(CuAllocation* allocation, void* address);
    CuResult (*allocation_release)(CuAllocation allocation);
    CuResult (*allocation_get_properties)(CuAllocationProperties* properties, CuAllocation allocation);
    CuResult (*allocation_get_granularity)(std::size_t* bytes, const CuAllocationProperties* properties, int option);
    CuResult (*allocation_export)(void* handle, CuAllocation allocation, int type, unsigned long long flags);
    CuResult (*allocation_import)(CuAllocation* allocation, void* handle, int type);
    CuResult (*address_reserve)(CuAddress* address, std::size_t bytes, std::size_t alignment, CuAddress wanted,
                                unsigned long long flags);
    CuResult (*address_free)(CuAddress address, std::size_t bytes);
    CuResult (*memory_map)(CuAddress address, std::size_t bytes, std::size_t offset, CuAllocation allocation,
                           unsigned long long flags);
    CuResult (*memory_unmap)(CuAddress address, std::size_t bytes);
    CuResult (*memory_set_access)(CuAddress address, std::size_t bytes, const CuAccess* access, std::size_t count);
    CuResult (*pool_export)(void* handle, CuMemoryPool pool, int type, unsigned long long flags);
    CuResult (*pool_import)(CuMemoryPool* pool, void* handle, int type, unsigned long long flags);
    CuResult (*pool_export_pointer)(CuPoolPointer* data, CuAddress address);
    CuResult (*pool_import_pointer)(CuAddress* address, CuMemoryPool pool, CuPoolPointer* data);
    CuResult (*pool_set_access)(CuMemoryPool pool, const CuAccess* access, std::size_t count);
    CuResult (*pool_destroy)(CuMemoryPool pool);
    CuResult (*stream_write_value_64)(CuStream stream, CuAddress address, std::uint64_t value, unsigned flags);

    // Every function of a group that is of use only together.
    bool has_virtual_memory() const;
    bool has_pools() const;
};

// The loaded library, and a reference to it, so that it stays while we have its functions.
class DriverLibrary {
public:
    // The one this process has loaded, if it has: loads none.
    static std::unique_ptr<DriverLibrary> find_loaded();
    // Fills in all functions; fails if a required one is absent.
    Status bind(DriverFunctions& functions) const;
    // One function; null if there is none.
    void* symbol(const char* name) const;

private:
    struct Close {
        void operator()(void* handle) const;
    };
    explicit DriverLibrary(void* handle) : handle_(handle) {}
    std::unique_ptr<void, Close> handle_;
};

// Calls `visit(member, symbol, required)` for each function: what it is called in the library, and whether a driver
// without it is too old for us.
template <typename Functions, typename Visit>
void for_each_driver_function(Functions& all, Visit visit) {
    constexpr bool required = true;
    constexpr bool optional = false;
    visit(all.init, "cuInit", required);
    visit(all.driver_get_version, "cuDriverGetVersion", required);
    visit(all.get_error_name, "cuGetErrorName", required);
    visit(all.get_error_string, "cuGetErrorString", required);
    visit(all.device_get_count, "cuDeviceGetCount", required);
    visit(all.device_get, "cuDeviceGet", required);
    visit(all.device_get_name, "cuDeviceGetName", required);
    visit(all.device_get_attribute, "cuDeviceGetAttribute", required);
    visit(all.device_total_memory, "cuDeviceTotalMem_v2", required);
    visit(all.device_get_uuid, "cuDeviceGetUuid_v2", required);
    visit(all.device_get_pci_id, "cuDeviceGetPCIBusId", required);
    visit(all.device_can_access_peer, "cuDeviceCanAccessPeer", required);
    visit(all.primary_context_get_state, "cuDevicePrimaryCtxGetState", required);
    visit(all.primary_context_retain, "cuDevicePrimaryCtxRetain", required);
    visit(all.primary_context_release, "cuDevicePrimaryCtxRelease_v2", required);
    visit(all.context_get_current, "cuCtxGetCurrent", required);
    visit(all.context_push, "cuCtxPushCurrent_v2", required);
    visit(all.context_pop, "cuCtxPopCurrent_v2", required);
    visit(all.context_synchronize, "cuCtxSynchronize", required);
    visit(all.context_enable_peer, "cuCtxEnablePeerAccess", required);
    visit(all.context_disable_peer, "cuCtxDisablePeerAccess", required);
    visit(all.pointer_get_attribute, "cuPointerGetAttribute", required);
    visit(all.pointer_get_attributes, "cuPointerGetAttributes", required);
    visit(all.pointer_set_attribute, "cuPointerSetAttribute", required);
    visit(all.memory_get_address_range, "cuMemGetAddressRange_v2", required);
    visit(all.memory_allocate, "cuMemAlloc_v2", required);
    visit(all.memory_free, "cuMemFree_v2", required);
    visit(all.host_allocate, "cuMemHostAlloc", required);
    visit(all.host_free, "cuMemFreeHost", required);
    visit(all.host_register, "cuMemHostRegister_v2", required);
    visit(all.host_unregister, "cuMemHostUnregister", required);
    visit(all.host_get_device_address, "cuMemHostGetDevicePointer_v2", required);
    visit(all.memory_copy_async, "cuMemcpyAsync", required);
    visit(all.memory_set_async, "cuMemsetD8Async", required);
    visit(all.stream_create, "cuStreamCreate", required);
    visit(all.stream_destroy, "cuStreamDestroy_v2", required);
    visit(all.stream_query, "cuStreamQuery", required);
    visit(all.stream_synchronize, "cuStreamSynchronize", required);
    visit(all.stream_wait_event, "cuStreamWaitEvent", required);
    visit(all.event_create, "cuEventCreate", required);
    visit(all.event_destroy, "cuEventDestroy_v2", required);
    visit(all.event_record, "cuEventRecord", required);
    visit(all.event_query, "cuEventQuery", required);
    visit(all.event_synchronize, "cuEventSynchronize", required);
    visit(all.ipc_get_handle, "cuIpcGetMemHandle", required);
    visit(all.ipc_open_handle, "cuIpcOpenMemHandle_v2", required);
    visit(all.ipc_close_handle, "cuIpcCloseMemHandle", required);
    visit(all.module_load_data, "cuModuleLoadData", required);
    visit(all.module_unload, "cuModuleUnload", required);
    visit(all.module_get_function, "cuModuleGetFunction", required);
    visit(all.launch_kernel, "cuLaunchKernel", required);
    visit(all.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", optional);
    visit(all.allocation_retain, "cuMemRetainAllocationHandle", optional);
    visit(all.allocation_release, "cuMemRelease", optional);
    visit(all.allocation_get_properties, "cuMemGetAllocationPropertiesFromHandle", optional);
    visit(all.allocation_get_granularity, "cuMemGetAllocationGranularity", optional);
    visit(all.allocation_export, "cuMemExportToShareableHandle", optional);
    visit(all.allocation_import, "cuMemImportFromShareableHandle", optional);
    visit(all.address_reserve, "cuMemAddressReserve", optional);
    visit(all.address_free, "cuMemAddressFree", optional);
    visit(all.memory_map, "cuMemMap", optional);
    visit(all.memory_unmap, "cuMemUnmap", optional);
    visit(all.memory_set_access, "cuMemSetAccess", optional);
    visit(all.pool_export, "cuMemPoolExportToShareableHandle", optional);
    visit(all.pool_import, "cuMemPoolImportFromShareableHandle", optional);
    visit(all.pool_export_pointer, "cuMemPoolExportPointer", optional);
    visit(all.pool_import_pointer, "cuMemPoolImportPointer", optional);
    visit(all.pool_set_access, "cuMemPoolSetAccess", optional);
    visit(all.pool_destroy, "cuMemPoolDestroy", optional);
    visit(all.stream_write_value_64, "cuStreamWriteValue64_v2", optional);
}

}  // namespace peercoll::cuda
