// SPDX-License-Identifier: BSD-3-Clause
// libamdhip64 as this process loaded it. A function that a release does not have makes the behaviour a skipped one.
#pragma once

#include "plugin/device/hip/hip_types.hpp"
#include "tests/conformance/runner/library_function.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll::conformance::hip {

using namespace peercoll::hip;

// The library, loaded once per process and never unloaded. Skips where there is none.
void* hip_library();
void* find_in_hip(const char* symbol);  // nullptr: not there

template <typename Signature>
using Function = LibraryFunction<find_in_hip, Signature>;
using Callback = void (*)(HipStream stream, HipError error, void* user);

// Members are named as HIP's functions are.
struct Library {
    Function<HipError(unsigned)> hipInit{"hipInit"};
    Function<HipError(int*)> hipRuntimeGetVersion{"hipRuntimeGetVersion"};
    Function<const char*(HipError)> hipGetErrorName{"hipGetErrorName"};
    Function<const char*(HipError)> hipGetErrorString{"hipGetErrorString"};
    Function<HipError()> hipGetLastError{"hipGetLastError"};
    Function<HipError()> hipPeekAtLastError{"hipPeekAtLastError"};

    Function<HipError(int*)> hipGetDeviceCount{"hipGetDeviceCount"};
    Function<HipError(int*)> hipGetDevice{"hipGetDevice"};
    Function<HipError(int)> hipSetDevice{"hipSetDevice"};
    Function<HipError()> hipDeviceSynchronize{"hipDeviceSynchronize"};
    Function<HipError(char*, int, int)> hipDeviceGetName{"hipDeviceGetName"};
    Function<HipError(int*, int, int)> hipDeviceGetAttribute{"hipDeviceGetAttribute"};
    Function<HipError(std::size_t*, int)> hipDeviceTotalMem{"hipDeviceTotalMem"};
    Function<HipError(HipUuid*, int)> hipDeviceGetUuid{"hipDeviceGetUuid"};
    Function<HipError(char*, int, int)> hipDeviceGetPCIBusId{"hipDeviceGetPCIBusId"};
    Function<HipError(int*, const char*)> hipDeviceGetByPCIBusId{"hipDeviceGetByPCIBusId"};
    Function<HipError(void*, int)> hipGetDeviceProperties{"hipGetDeviceProperties"};
    Function<HipError(void*, int)> hipGetDevicePropertiesR0600{"hipGetDevicePropertiesR0600"};

    Function<HipError(int*, int, int)> hipDeviceCanAccessPeer{"hipDeviceCanAccessPeer"};
    Function<HipError(int, unsigned)> hipDeviceEnablePeerAccess{"hipDeviceEnablePeerAccess"};
    Function<HipError(int)> hipDeviceDisablePeerAccess{"hipDeviceDisablePeerAccess"};
    Function<HipError(int*, int, int, int)> hipDeviceGetP2PAttribute{"hipDeviceGetP2PAttribute"};

    Function<HipError(HipPointerAttributes*, const void*)> hipPointerGetAttributes{"hipPointerGetAttributes"};
    Function<HipError(void*, int, void*)> hipPointerGetAttribute{"hipPointerGetAttribute"};
    Function<HipError(const void*, int, void*)> hipPointerSetAttribute{"hipPointerSetAttribute"};
    Function<HipError(void**, std::size_t*, void*)> hipMemGetAddressRange{"hipMemGetAddressRange"};

    Function<HipError(void**, std::size_t)> hipMalloc{"hipMalloc"};
    Function<HipError(void**, std::size_t, unsigned)> hipExtMallocWithFlags{"hipExtMallocWithFlags"};
    Function<HipError(void**, std::size_t, unsigned)> hipMallocManaged{"hipMallocManaged"};
    Function<HipError(void**, std::size_t, HipStream)> hipMallocAsync{"hipMallocAsync"};
    Function<HipError(void*)> hipFree{"hipFree"};
    Function<HipError(void*, HipStream)> hipFreeAsync{"hipFreeAsync"};
    Function<HipError(void**, std::size_t, unsigned)> hipHostMalloc{"hipHostMalloc"};
    Function<HipError(void*)> hipHostFree{"hipHostFree"};
    Function<HipError(void*, std::size_t, unsigned)> hipHostRegister{"hipHostRegister"};
    Function<HipError(void*)> hipHostUnregister{"hipHostUnregister"};
    Function<HipError(void**, void*, unsigned)> hipHostGetDevicePointer{"hipHostGetDevicePointer"};
    Function<HipError(std::size_t*, std::size_t*)> hipMemGetInfo{"hipMemGetInfo"};

    Function<HipError(void*, const void*, std::size_t, int)> hipMemcpy{"hipMemcpy"};
    Function<HipError(void*, const void*, std::size_t, int, HipStream)> hipMemcpyAsync{"hipMemcpyAsync"};
    Function<HipError(void*, int, const void*, int, std::size_t)> hipMemcpyPeer{"hipMemcpyPeer"};
    Function<HipError(void*, int, const void*, int, std::size_t, HipStream)> hipMemcpyPeerAsync{"hipMemcpyPeerAsync"};
    Function<HipError(void*, int, std::size_t, HipStream)> hipMemsetAsync{"hipMemsetAsync"};

    Function<HipError(HipStream*, unsigned)> hipStreamCreateWithFlags{"hipStreamCreateWithFlags"};
    Function<HipError(HipStream)> hipStreamDestroy{"hipStreamDestroy"};
    Function<HipError(HipStream)> hipStreamSynchronize{"hipStreamSynchronize"};
    Function<HipError(HipStream)> hipStreamQuery{"hipStreamQuery"};
    Function<HipError(HipStream, HipEvent, unsigned)> hipStreamWaitEvent{"hipStreamWaitEvent"};
    Function<HipError(HipStream, Callback, void*, unsigned)> hipStreamAddCallback{"hipStreamAddCallback"};
    Function<HipError(HipStream, void*, std::uint64_t, unsigned)> hipStreamWriteValue64{"hipStreamWriteValue64"};
    Function<HipError(int*)> hipThreadExchangeStreamCaptureMode{"hipThreadExchangeStreamCaptureMode"};

    Function<HipError(HipEvent*, unsigned)> hipEventCreateWithFlags{"hipEventCreateWithFlags"};
    Function<HipError(HipEvent)> hipEventDestroy{"hipEventDestroy"};
    Function<HipError(HipEvent, HipStream)> hipEventRecord{"hipEventRecord"};
    Function<HipError(HipEvent)> hipEventQuery{"hipEventQuery"};
    Function<HipError(HipEvent)> hipEventSynchronize{"hipEventSynchronize"};

    Function<HipError(HipIpcHandle*, void*)> hipIpcGetMemHandle{"hipIpcGetMemHandle"};
    Function<HipError(void**, HipIpcHandle, unsigned)> hipIpcOpenMemHandle{"hipIpcOpenMemHandle"};
    Function<HipError(void*)> hipIpcCloseMemHandle{"hipIpcCloseMemHandle"};

    Function<HipError(HipModule*, const void*)> hipModuleLoadData{"hipModuleLoadData"};
    Function<HipError(HipModule)> hipModuleUnload{"hipModuleUnload"};
    Function<HipError(HipFunction*, HipModule, const char*)> hipModuleGetFunction{"hipModuleGetFunction"};
    Function<HipError(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, HipStream,
                      void**, void**)>
        hipModuleLaunchKernel{"hipModuleLaunchKernel"};
};

const Library& lib();

}  // namespace peercoll::conformance::hip
