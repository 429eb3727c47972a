// SPDX-License-Identifier: BSD-3-Clause
// libcuda.so.1 as this process loaded it. A function the driver does not have makes the behaviour a skipped one.
#pragma once

#include "tests/conformance/cuda/driver_api.hpp"
#include "tests/conformance/runner/library_function.hpp"

#include <string>

namespace peercoll::conformance::cuda {

// The library, loaded once per process and never unloaded. Skips where there is none.
void* driver_library();
void* find_in_driver(const char* symbol);  // nullptr: not there

template <typename Signature>
using Function = LibraryFunction<find_in_driver, Signature>;

// Members are named as the driver's functions are; the symbols are those a program compiled against cuda.h would use.
struct Driver {
    Function<CUresult(unsigned)> cuInit{"cuInit"};
    Function<CUresult(int*)> cuDriverGetVersion{"cuDriverGetVersion"};
    Function<CUresult(CUresult, const char**)> cuGetErrorName{"cuGetErrorName"};
    Function<CUresult(CUresult, const char**)> cuGetErrorString{"cuGetErrorString"};
    Function<CUresult(const char*, void**, int, std::uint64_t, int*)> cuGetProcAddress{"cuGetProcAddress_v2"};

    Function<CUresult(int*)> cuDeviceGetCount{"cuDeviceGetCount"};
    Function<CUresult(CUdevice*, int)> cuDeviceGet{"cuDeviceGet"};
    Function<CUresult(char*, int, CUdevice)> cuDeviceGetName{"cuDeviceGetName"};
    Function<CUresult(int*, int, CUdevice)> cuDeviceGetAttribute{"cuDeviceGetAttribute"};
    Function<CUresult(CUuuid*, CUdevice)> cuDeviceGetUuid{"cuDeviceGetUuid_v2"};
    Function<CUresult(char*, int, CUdevice)> cuDeviceGetPCIBusId{"cuDeviceGetPCIBusId"};
    Function<CUresult(CUdevice*, const char*)> cuDeviceGetByPCIBusId{"cuDeviceGetByPCIBusId"};
    Function<CUresult(std::size_t*, CUdevice)> cuDeviceTotalMem{"cuDeviceTotalMem_v2"};
    Function<CUresult(int*, CUdevice, CUdevice)> cuDeviceCanAccessPeer{"cuDeviceCanAccessPeer"};
    Function<CUresult(int*, int, CUdevice, CUdevice)> cuDeviceGetP2PAttribute{"cuDeviceGetP2PAttribute"};

    Function<CUresult(CUcontext*, CUdevice)> cuDevicePrimaryCtxRetain{"cuDevicePrimaryCtxRetain"};
    Function<CUresult(CUdevice)> cuDevicePrimaryCtxRelease{"cuDevicePrimaryCtxRelease_v2"};
    Function<CUresult(CUdevice, unsigned*, int*)> cuDevicePrimaryCtxGetState{"cuDevicePrimaryCtxGetState"};
    Function<CUresult(CUcontext*)> cuCtxGetCurrent{"cuCtxGetCurrent"};
    Function<CUresult(CUcontext)> cuCtxPushCurrent{"cuCtxPushCurrent_v2"};
    Function<CUresult(CUcontext*)> cuCtxPopCurrent{"cuCtxPopCurrent_v2"};
    Function<CUresult(CUdevice*)> cuCtxGetDevice{"cuCtxGetDevice"};
    Function<CUresult()> cuCtxSynchronize{"cuCtxSynchronize"};
    Function<CUresult(CUcontext, unsigned)> cuCtxEnablePeerAccess{"cuCtxEnablePeerAccess"};
    Function<CUresult(CUcontext)> cuCtxDisablePeerAccess{"cuCtxDisablePeerAccess"};
    Function<CUresult(int*)> cuThreadExchangeStreamCaptureMode{"cuThreadExchangeStreamCaptureMode"};

    Function<CUresult(void*, int, CUdeviceptr)> cuPointerGetAttribute{"cuPointerGetAttribute"};
    Function<CUresult(unsigned, int*, void**, CUdeviceptr)> cuPointerGetAttributes{"cuPointerGetAttributes"};
    Function<CUresult(const void*, int, CUdeviceptr)> cuPointerSetAttribute{"cuPointerSetAttribute"};
    Function<CUresult(CUdeviceptr*, std::size_t*, CUdeviceptr)> cuMemGetAddressRange{"cuMemGetAddressRange_v2"};

    Function<CUresult(std::size_t*, std::size_t*)> cuMemGetInfo{"cuMemGetInfo_v2"};
    Function<CUresult(CUdeviceptr*, std::size_t)> cuMemAlloc{"cuMemAlloc_v2"};
    Function<CUresult(CUdeviceptr)> cuMemFree{"cuMemFree_v2"};
    Function<CUresult(CUdeviceptr*, std::size_t, unsigned)> cuMemAllocManaged{"cuMemAllocManaged"};
    Function<CUresult(void**, std::size_t, unsigned)> cuMemHostAlloc{"cuMemHostAlloc"};
    Function<CUresult(void*)> cuMemFreeHost{"cuMemFreeHost"};
    Function<CUresult(void*, std::size_t, unsigned)> cuMemHostRegister{"cuMemHostRegister_v2"};
    Function<CUresult(void*)> cuMemHostUnregister{"cuMemHostUnregister"};
    Function<CUresult(CUdeviceptr*, void*, unsigned)> cuMemHostGetDevicePointer{"cuMemHostGetDevicePointer_v2"};

    Function<CUresult(CUdeviceptr, const void*, std::size_t)> cuMemcpyHtoD{"cuMemcpyHtoD_v2"};
    Function<CUresult(void*, CUdeviceptr, std::size_t)> cuMemcpyDtoH{"cuMemcpyDtoH_v2"};
    Function<CUresult(CUdeviceptr, CUdeviceptr, std::size_t)> cuMemcpyDtoD{"cuMemcpyDtoD_v2"};
    Function<CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream)> cuMemcpyAsync{"cuMemcpyAsync"};
    Function<CUresult(void*, CUdeviceptr, std::size_t, CUstream)> cuMemcpyDtoHAsync{"cuMemcpyDtoHAsync_v2"};
    Function<CUresult(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t, CUstream)> cuMemcpyPeerAsync{
        "cuMemcpyPeerAsync"};
    Function<CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)> cuMemsetD8Async{"cuMemsetD8Async"};

    Function<CUresult(CUstream*, unsigned)> cuStreamCreate{"cuStreamCreate"};
    Function<CUresult(CUstream)> cuStreamDestroy{"cuStreamDestroy_v2"};
    Function<CUresult(CUstream)> cuStreamSynchronize{"cuStreamSynchronize"};
    Function<CUresult(CUstream)> cuStreamQuery{"cuStreamQuery"};
    Function<CUresult(CUstream, CUevent, unsigned)> cuStreamWaitEvent{"cuStreamWaitEvent"};
    Function<CUresult(CUstream, CUcontext*)> cuStreamGetCtx{"cuStreamGetCtx"};
    Function<CUresult(CUstream, CUhostFn, void*)> cuLaunchHostFunc{"cuLaunchHostFunc"};
    Function<CUresult(CUstream, CUdeviceptr, std::uint64_t, unsigned)> cuStreamWriteValue64{"cuStreamWriteValue64_v2"};
    Function<CUresult(CUstream, CUdeviceptr, std::uint64_t, unsigned)> cuStreamWaitValue64{"cuStreamWaitValue64_v2"};

    Function<CUresult(CUevent*, unsigned)> cuEventCreate{"cuEventCreate"};
    Function<CUresult(CUevent)> cuEventDestroy{"cuEventDestroy_v2"};
    Function<CUresult(CUevent, CUstream)> cuEventRecord{"cuEventRecord"};
    Function<CUresult(CUevent)> cuEventQuery{"cuEventQuery"};
    Function<CUresult(CUevent)> cuEventSynchronize{"cuEventSynchronize"};

    Function<CUresult(CUipcMemHandle*, CUdeviceptr)> cuIpcGetMemHandle{"cuIpcGetMemHandle"};
    Function<CUresult(CUdeviceptr*, CUipcMemHandle, unsigned)> cuIpcOpenMemHandle{"cuIpcOpenMemHandle_v2"};
    Function<CUresult(CUdeviceptr)> cuIpcCloseMemHandle{"cuIpcCloseMemHandle"};
    Function<CUresult(CUipcEventHandle*, CUevent)> cuIpcGetEventHandle{"cuIpcGetEventHandle"};
    Function<CUresult(CUevent*, CUipcEventHandle)> cuIpcOpenEventHandle{"cuIpcOpenEventHandle"};

    Function<CUresult(std::size_t*, const CUmemAllocationProp*, int)> cuMemGetAllocationGranularity{
        "cuMemGetAllocationGranularity"};
    Function<CUresult(CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*, unsigned long long)>
        cuMemCreate{"cuMemCreate"};
    Function<CUresult(CUmemGenericAllocationHandle)> cuMemRelease{"cuMemRelease"};
    Function<CUresult(CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)> cuMemAddressReserve{
        "cuMemAddressReserve"};
    Function<CUresult(CUdeviceptr, std::size_t)> cuMemAddressFree{"cuMemAddressFree"};
    Function<CUresult(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long)>
        cuMemMap{"cuMemMap"};
    Function<CUresult(CUdeviceptr, std::size_t)> cuMemUnmap{"cuMemUnmap"};
    Function<CUresult(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)> cuMemSetAccess{"cuMemSetAccess"};
    Function<CUresult(CUmemGenericAllocationHandle*, void*)> cuMemRetainAllocationHandle{"cuMemRetainAllocationHandle"};
    Function<CUresult(CUmemAllocationProp*, CUmemGenericAllocationHandle)> cuMemGetAllocationPropertiesFromHandle{
        "cuMemGetAllocationPropertiesFromHandle"};
    Function<CUresult(void*, CUmemGenericAllocationHandle, int, unsigned long long)> cuMemExportToShareableHandle{
        "cuMemExportToShareableHandle"};
    Function<CUresult(CUmemGenericAllocationHandle*, void*, int)> cuMemImportFromShareableHandle{
        "cuMemImportFromShareableHandle"};

    Function<CUresult(CUmemoryPool*, const CUmemPoolProps*)> cuMemPoolCreate{"cuMemPoolCreate"};
    Function<CUresult(CUmemoryPool)> cuMemPoolDestroy{"cuMemPoolDestroy"};
    Function<CUresult(CUmemoryPool, const CUmemAccessDesc*, std::size_t)> cuMemPoolSetAccess{"cuMemPoolSetAccess"};
    Function<CUresult(CUdeviceptr*, std::size_t, CUstream)> cuMemAllocAsync{"cuMemAllocAsync"};
    Function<CUresult(CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)> cuMemAllocFromPoolAsync{
        "cuMemAllocFromPoolAsync"};
    Function<CUresult(CUdeviceptr, CUstream)> cuMemFreeAsync{"cuMemFreeAsync"};
    Function<CUresult(void*, CUmemoryPool, int, unsigned long long)> cuMemPoolExportToShareableHandle{
        "cuMemPoolExportToShareableHandle"};
    Function<CUresult(CUmemoryPool*, void*, int, unsigned long long)> cuMemPoolImportFromShareableHandle{
        "cuMemPoolImportFromShareableHandle"};
    Function<CUresult(CUmemPoolPtrExportData*, CUdeviceptr)> cuMemPoolExportPointer{"cuMemPoolExportPointer"};
    Function<CUresult(CUdeviceptr*, CUmemoryPool, CUmemPoolPtrExportData*)> cuMemPoolImportPointer{
        "cuMemPoolImportPointer"};

    Function<CUresult(CUmodule*, const void*)> cuModuleLoadData{"cuModuleLoadData"};
    Function<CUresult(CUmodule)> cuModuleUnload{"cuModuleUnload"};
    Function<CUresult(CUfunction*, CUmodule, const char*)> cuModuleGetFunction{"cuModuleGetFunction"};
    Function<CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                      void**, void**)>
        cuLaunchKernel{"cuLaunchKernel"};
};

const Driver& driver();

}  // namespace peercoll::conformance::cuda
