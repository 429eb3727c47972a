// SPDX-License-Identifier: BSD-3-Clause
// The entry points of the simulated runtime, as ACL declares them.
#pragma once

#include "tests/simulated_devices/ascend/types.hpp"

namespace peercoll::simulator::acl {

extern "C" {

aclError aclInit(const char* configuration);
aclError aclFinalize(void);
aclError aclFinalizeReference(std::uint64_t* count);
aclError aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch);
const char* aclGetRecentErrMsg(void);
aclError aclrtGetLastError(int level);
aclError aclrtPeekAtLastError(int level);
const char* aclrtGetSocName(void);
aclError aclrtGetDeviceCount(std::uint32_t* count);
aclError aclrtSetDevice(std::int32_t device);
aclError aclrtGetDevice(std::int32_t* device);
aclError aclrtResetDevice(std::int32_t device);
aclError aclrtResetDeviceForce(std::int32_t device);
aclError aclrtSynchronizeDevice(void);
aclError aclrtGetDeviceInfo(std::uint32_t device, int attribute, std::int64_t* value);
aclError aclrtDeviceGetUuid(std::int32_t device, aclrtUuid* uuid);
aclError aclrtDeviceGetPCIBusId(std::int32_t device, char* id, std::int32_t bytes);
aclError aclrtGetLogicDevIdByUserDevId(std::int32_t user, std::int32_t* logical);
aclError aclrtGetPhyDevIdByLogicDevId(std::int32_t logical, std::int32_t* physical);
aclError aclrtCreateContext(aclrtContext* context, std::int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetPrimaryCtxState(std::int32_t device, std::uint32_t* flags, std::int32_t* active);
aclError aclrtDeviceCanAccessPeer(std::int32_t* can, std::int32_t device, std::int32_t peer);
aclError aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags);
aclError aclrtDeviceDisablePeerAccess(std::int32_t peer);
aclError aclrtGetDevicesTopo(std::uint32_t device, std::uint32_t other, std::uint64_t* value);
aclError aclrtMalloc(void** address, std::size_t bytes, int policy);
aclError aclrtFree(void* address);
aclError aclrtMallocHost(void** address, std::size_t bytes);
aclError aclrtFreeHost(void* address);
aclError aclrtHostRegister(void* address, std::uint64_t bytes, int type, void** device_address);
aclError aclrtHostUnregister(void* address);
aclError aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes);
aclError aclrtMemGetAddressRange(void* address, void** base, std::size_t* bytes);
aclError aclrtGetMemInfo(int kind, std::size_t* unused, std::size_t* all);
aclError aclrtMemcpy(void* to, std::size_t room, const void* from, std::size_t bytes, int kind);
aclError aclrtMemcpyAsync(void* to, std::size_t room, const void* from, std::size_t bytes, int kind,
                          aclrtStream stream);
aclError aclrtReduceAsync(void* to, const void* from, std::uint64_t bytes, int kind, int type, aclrtStream stream,
                          void* reserve);
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtStreamQuery(aclrtStream stream, int* status);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtCreateEventWithFlag(aclrtEvent* event, std::uint32_t flag);
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, std::uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtQueryEvent(aclrtEvent event, int* status);
aclError aclrtQueryEventStatus(aclrtEvent event, int* status);
aclError aclrtIpcMemGetExportKey(void* address, std::size_t bytes, char* key, std::size_t room, std::uint64_t flags);
aclError aclrtIpcMemSetImportPid(const char* key, std::int32_t* pids, std::size_t n);
aclError aclrtIpcMemImportByKey(void** address, const char* key, std::uint64_t flags);
aclError aclrtIpcMemClose(const char* key);
aclError aclrtDeviceGetBareTgid(std::int32_t* pid);

}  // extern "C"

}  // namespace peercoll::simulator::acl
