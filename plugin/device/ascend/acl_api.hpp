// SPDX-License-Identifier: BSD-3-Clause
// The functions of ACL that we call, found in the library this process has loaded already.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/ascend/acl_types.hpp"

#include <memory>

namespace peercoll::ascend {

struct AclFunctions {
    AclError (*init)(const char* configuration);
    const char* (*get_soc_name)();

    AclError (*get_device_count)(std::uint32_t* count);
    AclError (*set_device)(std::int32_t device);
    AclError (*reset_device)(std::int32_t device);
    AclError (*get_device)(std::int32_t* device);
    AclError (*get_current_context)(AclContext* context);
    AclError (*set_current_context)(AclContext context);
    AclError (*device_can_access_peer)(std::int32_t* can, std::int32_t device, std::int32_t peer);
    AclError (*device_enable_peer)(std::int32_t peer, std::uint32_t flags);
    AclError (*device_disable_peer)(std::int32_t peer);

    AclError (*memory_allocate)(void** address, std::size_t bytes, int policy);
    AclError (*memory_free)(void* address);
    AclError (*host_allocate)(void** address, std::size_t bytes);
    AclError (*host_free)(void* address);
    AclError (*memory_copy)(void* to, std::size_t room, const void* from, std::size_t bytes, int kind);
    AclError (*memory_copy_async)(void* to, std::size_t room, const void* from, std::size_t bytes, int kind,
                                  AclStream stream);
    AclError (*stream_create)(AclStream* stream);
    AclError (*stream_destroy)(AclStream stream);
    AclError (*stream_synchronize)(AclStream stream);
    AclError (*stream_wait_event)(AclStream stream, AclEvent event);
    AclError (*event_create)(AclEvent* event);
    AclError (*event_destroy)(AclEvent event);
    AclError (*event_record)(AclEvent event, AclStream stream);

    // What some releases do not have: NULL then.
    AclError (*finalize_reference)(std::uint64_t* count);
    AclError (*get_version)(std::int32_t* major, std::int32_t* minor, std::int32_t* patch);
    const char* (*get_recent_message)();
    AclError (*peek_at_last_error)(int level);
    AclError (*get_last_error)(int level);
    AclError (*get_primary_state)(std::int32_t device, std::uint32_t* flags, std::int32_t* active);
    AclError (*get_device_info)(std::uint32_t device, int attribute, std::int64_t* value);
    AclError (*get_devices_topology)(std::uint32_t device, std::uint32_t other, std::uint64_t* value);
    AclError (*device_get_uuid)(std::int32_t device, AclUuid* uuid);
    AclError (*device_get_pci_id)(std::int32_t device, char* id, std::int32_t bytes);
    AclError (*logical_of_user)(std::int32_t user, std::int32_t* logical);
    AclError (*physical_of_logical)(std::int32_t logical, std::int32_t* physical);
    AclError (*pointer_get_attributes)(const void* address, AclPointerAttributes* attributes);
    AclError (*memory_get_address_range)(void* address, void** base, std::size_t* bytes);
    AclError (*host_register)(void* address, std::uint64_t bytes, int type, void** device_address);
    AclError (*host_unregister)(void* address);
    AclError (*stream_query)(AclStream stream, int* status);
    AclError (*event_create_ex)(AclEvent* event, std::uint32_t flag);
    AclError (*event_create_with_flag)(AclEvent* event, std::uint32_t flag);
    AclError (*event_reset)(AclEvent event, AclStream stream);
    AclError (*event_query)(AclEvent event, int* status);
    AclError (*event_query_recorded)(AclEvent event, int* status);
    AclError (*ipc_get_key)(void* address, std::size_t bytes, char* key, std::size_t room, std::uint64_t flags);
    AclError (*ipc_set_readers)(const char* key, std::int32_t* pids, std::size_t n);
    AclError (*ipc_import)(void** address, const char* key, std::uint64_t flags);
    AclError (*ipc_close)(const char* key);
    AclError (*get_bare_pid)(std::int32_t* pid);
    AclError (*reduce_async)(void* to, const void* from, std::uint64_t bytes, int kind, int type, AclStream stream,
                             void* reserved);

    bool has_ipc() const { return ipc_get_key != nullptr && ipc_import != nullptr && ipc_close != nullptr; }
};

// The loaded library, and a reference to it, so that it stays while we have its functions.
class AclLibrary {
public:
    // The one this process has loaded, if it has: loads none.
    static std::unique_ptr<AclLibrary> find_loaded();
    // Fills in all functions; fails if a required one is absent.
    Status bind(AclFunctions& functions) const;

private:
    struct Close {
        void operator()(void* handle) const;
    };
    explicit AclLibrary(void* handle) : handle_(handle) {}
    std::unique_ptr<void, Close> handle_;
};

// Calls `visit(member, symbol, required)` for each function.
template <typename Functions, typename Visit>
void for_each_acl_function(Functions& all, Visit visit) {
    constexpr bool required = true;
    constexpr bool optional = false;
    visit(all.init, "aclInit", required);
    visit(all.get_soc_name, "aclrtGetSocName", required);
    visit(all.get_device_count, "aclrtGetDeviceCount", required);
    visit(all.set_device, "aclrtSetDevice", required);
    visit(all.reset_device, "aclrtResetDevice", required);
    visit(all.get_device, "aclrtGetDevice", required);
    visit(all.get_current_context, "aclrtGetCurrentContext", required);
    visit(all.set_current_context, "aclrtSetCurrentContext", required);
    visit(all.device_can_access_peer, "aclrtDeviceCanAccessPeer", required);
    visit(all.device_enable_peer, "aclrtDeviceEnablePeerAccess", required);
    visit(all.device_disable_peer, "aclrtDeviceDisablePeerAccess", required);
    visit(all.memory_allocate, "aclrtMalloc", required);
    visit(all.memory_free, "aclrtFree", required);
    visit(all.host_allocate, "aclrtMallocHost", required);
    visit(all.host_free, "aclrtFreeHost", required);
    visit(all.memory_copy, "aclrtMemcpy", required);
    visit(all.memory_copy_async, "aclrtMemcpyAsync", required);
    visit(all.stream_create, "aclrtCreateStream", required);
    visit(all.stream_destroy, "aclrtDestroyStream", required);
    visit(all.stream_synchronize, "aclrtSynchronizeStream", required);
    visit(all.stream_wait_event, "aclrtStreamWaitEvent", required);
    visit(all.event_create, "aclrtCreateEvent", required);
    visit(all.event_destroy, "aclrtDestroyEvent", required);
    visit(all.event_record, "aclrtRecordEvent", required);
    visit(all.finalize_reference, "aclFinalizeReference", optional);
    visit(all.get_version, "aclrtGetVersion", optional);
    visit(all.get_recent_message, "aclGetRecentErrMsg", optional);
    visit(all.peek_at_last_error, "aclrtPeekAtLastError", optional);
    visit(all.get_last_error, "aclrtGetLastError", optional);
    visit(all.get_primary_state, "aclrtGetPrimaryCtxState", optional);
    visit(all.get_device_info, "aclrtGetDeviceInfo", optional);
    visit(all.get_devices_topology, "aclrtGetDevicesTopo", optional);
    visit(all.device_get_uuid, "aclrtDeviceGetUuid", optional);
    visit(all.device_get_pci_id, "aclrtDeviceGetPCIBusId", optional);
    visit(all.logical_of_user, "aclrtGetLogicDevIdByUserDevId", optional);
    visit(all.physical_of_logical, "aclrtGetPhyDevIdByLogicDevId", optional);
    visit(all.pointer_get_attributes, "aclrtPointerGetAttributes", optional);
    visit(all.memory_get_address_range, "aclrtMemGetAddressRange", optional);
    visit(all.host_register, "aclrtHostRegister", optional);
    visit(all.host_unregister, "aclrtHostUnregister", optional);
    visit(all.stream_query, "aclrtStreamQuery", optional);
    visit(all.event_create_ex, "aclrtCreateEventExWithFlag", optional);
    visit(all.event_create_with_flag, "aclrtCreateEventWithFlag", optional);
    visit(all.event_reset, "aclrtResetEvent", optional);
    visit(all.event_query, "aclrtQueryEvent", optional);
    visit(all.event_query_recorded, "aclrtQueryEventStatus", optional);
    visit(all.ipc_get_key, "aclrtIpcMemGetExportKey", optional);
    visit(all.ipc_set_readers, "aclrtIpcMemSetImportPid", optional);
    visit(all.ipc_import, "aclrtIpcMemImportByKey", optional);
    visit(all.ipc_close, "aclrtIpcMemClose", optional);
    visit(all.get_bare_pid, "aclrtDeviceGetBareTgid", optional);
    visit(all.reduce_async, "aclrtReduceAsync", optional);
}

}  // namespace peercoll::ascend
