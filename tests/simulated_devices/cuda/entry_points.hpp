// SPDX-License-Identifier: BSD-3-Clause
// Declarations of the simulated driver's entry points, for programs that are linked with it. Most programs are not, and
// find it with dlopen().
#pragma once

#include "tests/simulated_devices/cuda/types.hpp"

namespace peercoll::simulator::cuda {

extern "C" {

// contexts.cpp
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice number);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice number);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice number, unsigned flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice number, unsigned* flags, int* active);
CUresult cuCtxGetCurrent(CUcontext* context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext* context);
CUresult cuCtxGetDevice(CUdevice* device);
CUresult cuCtxGetFlags(unsigned* flags);
CUresult cuCtxSetFlags(unsigned flags);
CUresult cuCtxSynchronize();
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
// copies.cpp
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream);
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, std::size_t count);
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count, CUstream stream);
CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, std::size_t count);
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, std::size_t count, CUstream stream);
// devices.cpp
CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGet(CUdevice* device, int ordinal);
CUresult cuDeviceGetName(char* name, int length, CUdevice device);
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device);
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id);
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int* value, int attribute, CUdevice from, CUdevice to);
// errors.cpp
CUresult cuGetErrorName(CUresult code, const char** text);
CUresult cuGetErrorString(CUresult code, const char** text);
// events.cpp
CUresult cuEventCreate(CUevent* event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent handle, CUstream stream_handle);
CUresult cuEventQuery(CUevent handle);
CUresult cuEventSynchronize(CUevent handle);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle);
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end);
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle);
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle);
// initialise.cpp
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int* version);
// ipc.cpp
CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
// memory.cpp
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes);
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemGetInfo_v2(std::size_t* unused, std::size_t* all);
CUresult cuMemAllocHost_v2(void** address, std::size_t bytes);
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags);
CUresult cuMemFreeHost(void* address);
CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void* address);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_address, void* address, unsigned flags);
// modules.cpp
CUresult cuModuleLoadData(CUmodule* module, const void* image);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options, void** values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module_handle, const char* name);
CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared_bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream_handle,
                        void** parameters, void** extra);
// physical_handles.cpp
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties, int option);
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* wanted,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* result, CUmemGenericAllocationHandle handle);
CUresult cuMemExportToShareableHandle(void* result, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle, int type);
// pointers.cpp
CUresult cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address);
CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** data, CUdeviceptr address);
CUresult cuPointerSetAttribute(const void* value, int attribute, CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address);
// pool_sharing.cpp
CUresult cuMemPoolExportToShareableHandle(void* result, CUmemoryPool handle, int type, unsigned long long flags);
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* result, void* os_handle, int type, unsigned long long flags);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr address);
CUresult cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool handle, CUmemPoolPtrExportData* data);
// pools.cpp
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* wanted);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle);
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, int attribute, void* value);
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, int attribute, void* value);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep);
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions, std::size_t count);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle);
// proc_address.cpp
CUresult cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags);
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status);
// streams.cpp
CUresult cuStreamCreate(CUstream* stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream handle);
CUresult cuStreamQuery(CUstream handle);
CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags);
CUresult cuStreamGetCtx(CUstream handle, CUcontext* context);
CUresult cuStreamIsCapturing(CUstream handle, int* status);
CUresult cuThreadExchangeStreamCaptureMode(int* mode);
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* argument);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags);
// virtual_memory.cpp
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr wish,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes);
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptions, std::size_t count);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address);

}  // extern "C"

}  // namespace peercoll::simulator::cuda
