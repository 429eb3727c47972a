// SPDX-License-Identifier: BSD-3-Clause
// The entry points of the simulated runtime, as HIP declares them.
#pragma once

#include "tests/simulated_devices/hip/types.hpp"

namespace peercoll::simulator::hip {

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, int kind);
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, hipStream_t stream);
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes);
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                              hipStream_t stream);
hipError_t hipMemset(void* address, int value, std::size_t bytes);
hipError_t hipMemsetAsync(void* address, int value, std::size_t bytes, hipStream_t stream);
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceGetName(char* name, int length, int device);
hipError_t hipDeviceGetAttribute(int* value, int attribute, int device);
hipError_t hipDeviceTotalMem(std::size_t* bytes, int device);
hipError_t hipDeviceGetUuid(hipUUID* uuid, int device);
hipError_t hipDeviceGetPCIBusId(char* id, int length, int device);
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id);
hipError_t hipGetDeviceProperties(void* to, int device);
hipError_t hipGetDevicePropertiesR0600(void* to, int device);
const char* hipGetErrorName(hipError_t code);
const char* hipGetErrorString(hipError_t code);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle);
hipError_t hipEventQuery(hipEvent_t handle);
hipError_t hipEventSynchronize(hipEvent_t handle);
int hsa_system_get_info(int attribute, void* value);
hipError_t hipInit(unsigned flags);
hipError_t hipRuntimeGetVersion(int* version);
hipError_t hipDriverGetVersion(int* version);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* address);
hipError_t hipIpcOpenMemHandle(void** address, hipIpcMemHandle_t handle, unsigned flags);
hipError_t hipIpcCloseMemHandle(void* address);
hipError_t hipMalloc(void** address, std::size_t bytes);
hipError_t hipExtMallocWithFlags(void** address, std::size_t bytes, unsigned flags);
hipError_t hipMallocManaged(void** address, std::size_t bytes, unsigned flags);
hipError_t hipMallocAsync(void** address, std::size_t bytes, hipStream_t stream);
hipError_t hipFree(void* address);
hipError_t hipFreeAsync(void* address, hipStream_t handle);
hipError_t hipHostMalloc(void** address, std::size_t bytes, unsigned flags);
hipError_t hipHostFree(void* address);
hipError_t hipHostRegister(void* address, std::size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void* address);
hipError_t hipHostGetDevicePointer(void** device_address, void* address, unsigned flags);
hipError_t hipMemGetInfo(std::size_t* unused, std::size_t* all);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module_handle, const char* name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream_handle, void** parameters, void** extra);
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceDisablePeerAccess(int peer);
hipError_t hipDeviceGetP2PAttribute(int* value, int attribute, int from, int to);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* address);
hipError_t hipPointerGetAttribute(void* data, int attribute, hipDeviceptr_t address);
hipError_t hipPointerSetAttribute(const void* value, int attribute, hipDeviceptr_t address);
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes, hipDeviceptr_t address);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t handle);
hipError_t hipStreamQuery(hipStream_t handle);
hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t function, void* argument, unsigned flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* argument);
hipError_t hipThreadExchangeStreamCaptureMode(int* mode);
hipError_t hipStreamWriteValue32(hipStream_t stream, void* address, std::uint32_t value, unsigned flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, std::uint64_t value, unsigned flags);

}  // extern "C"

}  // namespace peercoll::simulator::hip
