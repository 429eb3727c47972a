// SPDX-License-Identifier: BSD-3-Clause
// The functions of HIP that we call, found in the library this process has loaded already.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_types.hpp"

#include <memory>
#include <string>

namespace peercoll::hip {

struct HipFunctions {
    HipError (*init)(unsigned flags);
    HipError (*runtime_get_version)(int* version);
    const char* (*get_error_name)(HipError error);
    HipError (*get_last_error)();
    HipError (*peek_at_last_error)();

    HipError (*get_device_count)(int* count);
    HipError (*get_device)(int* device);
    HipError (*set_device)(int device);
    HipError (*device_get_name)(char* name, int bytes, int device);
    HipError (*device_get_attribute)(int* value, int attribute, int device);
    HipError (*device_total_memory)(std::size_t* bytes, int device);
    HipError (*device_get_pci_id)(char* id, int bytes, int device);
    HipError (*device_can_access_peer)(int* can, int device, int peer);
    HipError (*device_enable_peer)(int peer, unsigned flags);
    HipError (*device_disable_peer)(int peer);

    HipError (*pointer_get_attributes)(HipPointerAttributes* attributes, const void* address);
    HipError (*memory_get_address_range)(void** base, std::size_t* bytes, void* address);
    HipError (*memory_allocate)(void** address, std::size_t bytes);
    HipError (*memory_free)(void* address);
    HipError (*host_allocate)(void** address, std::size_t bytes, unsigned flags);
    HipError (*host_free)(void* address);
    HipError (*host_register)(void* address, std::size_t bytes, unsigned flags);
    HipError (*host_unregister)(void* address);
    HipError (*host_get_device_address)(void** device_address, void* address, unsigned flags);

    HipError (*memory_copy_async)(void* to, const void* from, std::size_t bytes, int kind, HipStream stream);
    HipError (*memory_copy_peer_async)(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                       HipStream stream);
    HipError (*memory_set_async)(void* address, int value, std::size_t bytes, HipStream stream);
    HipError (*stream_create)(HipStream* stream, unsigned flags);
    HipError (*stream_destroy)(HipStream stream);
    HipError (*stream_query)(HipStream stream);
    HipError (*stream_synchronize)(HipStream stream);
    HipError (*stream_wait_event)(HipStream stream, HipEvent event, unsigned flags);
    HipError (*event_create)(HipEvent* event, unsigned flags);
    HipError (*event_destroy)(HipEvent event);
    HipError (*event_record)(HipEvent event, HipStream stream);
    HipError (*event_query)(HipEvent event);
    HipError (*event_synchronize)(HipEvent event);

    HipError (*ipc_get_handle)(HipIpcHandle* handle, void* address);
    HipError (*ipc_open_handle)(void** address, HipIpcHandle handle, unsigned flags);
    HipError (*ipc_close_handle)(void* address);

    HipError (*module_load_data)(HipModule* module, const void* image);
    HipError (*module_unload)(HipModule module);
    HipError (*module_get_function)(HipFunction* function, HipModule module, const char* name);
    HipError (*launch_kernel)(HipFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, HipStream stream,
                              void** parameters, void** extra);

    // What some releases do not have: NULL then.
    HipError (*device_get_uuid)(HipUuid* uuid, int device);
    HipError (*pointer_get_attribute)(void* value, int attribute, void* address);
    HipError (*pointer_set_attribute)(const void* value, int attribute, void* address);
    HipError (*exchange_capture_mode)(int* mode);
    HipError (*stream_write_value_64)(HipStream stream, void* address, std::uint64_t value, unsigned flags);
    // A device's properties: a struct that changed in ROCm 6, where the name has led to the old one ever since.
    HipError (*get_old_properties)(void* properties, int device);
    HipError (*get_new_properties)(void* properties, int device);
};

// The loaded library, and a reference to it, so that it stays while we have its functions.
class HipLibrary {
public:
    // The one this process has loaded, if it has: loads none. Two of them in one process would not know each other's
    // memory.
    static std::unique_ptr<HipLibrary> find_loaded();
    // Fills in all functions; fails if a required one is absent.
    Status bind(HipFunctions& functions) const;
    // A function besides those; null if there is none.
    void* symbol(const char* name) const;
    // Where the library's file is; empty if that is not known.
    std::string folder() const;

private:
    struct Close {
        void operator()(void* handle) const;
    };
    explicit HipLibrary(void* handle) : handle_(handle) {}
    std::unique_ptr<void, Close> handle_;
};

// Calls `visit(member, symbol, required)` for each function.
template <typename Functions, typename Visit>
void for_each_hip_function(Functions& all, Visit visit) {
    constexpr bool required = true;
    constexpr bool optional = false;
    visit(all.init, "hipInit", required);
    visit(all.runtime_get_version, "hipRuntimeGetVersion", required);
    visit(all.get_error_name, "hipGetErrorName", required);
    visit(all.get_last_error, "hipGetLastError", required);
    visit(all.peek_at_last_error, "hipPeekAtLastError", required);
    visit(all.get_device_count, "hipGetDeviceCount", required);
    visit(all.get_device, "hipGetDevice", required);
    visit(all.set_device, "hipSetDevice", required);
    visit(all.device_get_name, "hipDeviceGetName", required);
    visit(all.device_get_attribute, "hipDeviceGetAttribute", required);
    visit(all.device_total_memory, "hipDeviceTotalMem", required);
    visit(all.device_get_pci_id, "hipDeviceGetPCIBusId", required);
    visit(all.device_can_access_peer, "hipDeviceCanAccessPeer", required);
    visit(all.device_enable_peer, "hipDeviceEnablePeerAccess", required);
    visit(all.device_disable_peer, "hipDeviceDisablePeerAccess", required);
    visit(all.pointer_get_attributes, "hipPointerGetAttributes", required);
    visit(all.memory_get_address_range, "hipMemGetAddressRange", required);
    visit(all.memory_allocate, "hipMalloc", required);
    visit(all.memory_free, "hipFree", required);
    visit(all.host_allocate, "hipHostMalloc", required);
    visit(all.host_free, "hipHostFree", required);
    visit(all.host_register, "hipHostRegister", required);
    visit(all.host_unregister, "hipHostUnregister", required);
    visit(all.host_get_device_address, "hipHostGetDevicePointer", required);
    visit(all.memory_copy_async, "hipMemcpyAsync", required);
    visit(all.memory_copy_peer_async, "hipMemcpyPeerAsync", required);
    visit(all.memory_set_async, "hipMemsetAsync", required);
    visit(all.stream_create, "hipStreamCreateWithFlags", required);
    visit(all.stream_destroy, "hipStreamDestroy", required);
    visit(all.stream_query, "hipStreamQuery", required);
    visit(all.stream_synchronize, "hipStreamSynchronize", required);
    visit(all.stream_wait_event, "hipStreamWaitEvent", required);
    visit(all.event_create, "hipEventCreateWithFlags", required);
    visit(all.event_destroy, "hipEventDestroy", required);
    visit(all.event_record, "hipEventRecord", required);
    visit(all.event_query, "hipEventQuery", required);
    visit(all.event_synchronize, "hipEventSynchronize", required);
    visit(all.ipc_get_handle, "hipIpcGetMemHandle", required);
    visit(all.ipc_open_handle, "hipIpcOpenMemHandle", required);
    visit(all.ipc_close_handle, "hipIpcCloseMemHandle", required);
    visit(all.module_load_data, "hipModuleLoadData", required);
    visit(all.module_unload, "hipModuleUnload", required);
    visit(all.module_get_function, "hipModuleGetFunction", required);
    visit(all.launch_kernel, "hipModuleLaunchKernel", required);
    visit(all.device_get_uuid, "hipDeviceGetUuid", optional);
    visit(all.pointer_get_attribute, "hipPointerGetAttribute", optional);
    visit(all.pointer_set_attribute, "hipPointerSetAttribute", optional);
    visit(all.exchange_capture_mode, "hipThreadExchangeStreamCaptureMode", optional);
    visit(all.stream_write_value_64, "hipStreamWriteValue64", optional);
    visit(all.get_old_properties, "hipGetDeviceProperties", optional);
    visit(all.get_new_properties, "hipGetDevicePropertiesR0600", optional);
}

}  // namespace peercoll::hip
