// SPDX-License-Identifier: BSD-3-Clause
// Types and constants of HIP's binary interface, as far as the simulated runtime needs them. Declared here, so that it
// builds without ROCm.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::simulator::hip {

struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;

using hipError_t = int;
using hipDeviceptr_t = void*;
using hipStream_t = StreamObject*;
using hipEvent_t = EventObject*;
using hipModule_t = ModuleObject*;
using hipFunction_t = FunctionObject*;
using hipHostFn_t = void (*)(void*);
using hipStreamCallback_t = void (*)(hipStream_t, hipError_t, void*);

struct hipUUID {
    char bytes[16];
};
struct hipIpcMemHandle_t {
    char reserved[64];
};
struct hipPointerAttribute_t {
    int type;
    int device;
    void* devicePointer;
    void* hostPointer;
    int isManaged;
    unsigned allocationFlags;
};
static_assert(sizeof(hipPointerAttribute_t) == 32);

inline constexpr hipError_t hipSuccess = 0;
inline constexpr hipError_t hipErrorInvalidValue = 1;
inline constexpr hipError_t hipErrorOutOfMemory = 2;
inline constexpr hipError_t hipErrorNotInitialized = 3;
inline constexpr hipError_t hipErrorDeinitialized = 4;
inline constexpr hipError_t hipErrorInvalidDevicePointer = 17;
inline constexpr hipError_t hipErrorInvalidMemcpyDirection = 21;
inline constexpr hipError_t hipErrorNoDevice = 100;
inline constexpr hipError_t hipErrorInvalidDevice = 101;
inline constexpr hipError_t hipErrorInvalidImage = 200;
inline constexpr hipError_t hipErrorInvalidContext = 201;
inline constexpr hipError_t hipErrorNoBinaryForGpu = 209;
inline constexpr hipError_t hipErrorInvalidHandle = 400;
inline constexpr hipError_t hipErrorNotFound = 500;
inline constexpr hipError_t hipErrorNotReady = 600;
inline constexpr hipError_t hipErrorIllegalAddress = 700;
inline constexpr hipError_t hipErrorPeerAccessAlreadyEnabled = 704;
inline constexpr hipError_t hipErrorPeerAccessNotEnabled = 705;
inline constexpr hipError_t hipErrorContextIsDestroyed = 709;
inline constexpr hipError_t hipErrorHostMemoryAlreadyRegistered = 712;
inline constexpr hipError_t hipErrorHostMemoryNotRegistered = 713;
inline constexpr hipError_t hipErrorLaunchFailure = 719;
inline constexpr hipError_t hipErrorNotSupported = 801;
inline constexpr hipError_t hipErrorUnknown = 999;

inline constexpr int hipMemcpyHostToHost = 0;
inline constexpr int hipMemcpyHostToDevice = 1;
inline constexpr int hipMemcpyDeviceToHost = 2;
inline constexpr int hipMemcpyDeviceToDevice = 3;
inline constexpr int hipMemcpyDefault = 4;

inline constexpr int hipDeviceAttributeIntegrated = 16;
inline constexpr int hipDeviceAttributeComputeCapabilityMajor = 23;
inline constexpr int hipDeviceAttributeManagedMemory = 24;
inline constexpr int hipDeviceAttributeMaxThreadsPerBlock = 56;
inline constexpr int hipDeviceAttributeComputeCapabilityMinor = 61;
inline constexpr int hipDeviceAttributeMultiprocessorCount = 63;
inline constexpr int hipDeviceAttributePciBusId = 67;
inline constexpr int hipDeviceAttributePciDeviceId = 68;
inline constexpr int hipDeviceAttributePciDomainID = 69;
inline constexpr int hipDeviceAttributeUnifiedAddressing = 85;
inline constexpr int hipDeviceAttributeWarpSize = 87;
inline constexpr int hipDeviceAttributeMemoryPoolsSupported = 88;
inline constexpr int hipDeviceAttributeCanUseStreamWaitValue = 10013;

inline constexpr int HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
inline constexpr int HIP_POINTER_ATTRIBUTE_DEVICE_POINTER = 3;
inline constexpr int HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4;
inline constexpr int HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6;
inline constexpr int HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7;
inline constexpr int HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8;
inline constexpr int HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
inline constexpr int HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE = 10;
inline constexpr int HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11;
inline constexpr int HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12;
inline constexpr int HIP_POINTER_ATTRIBUTE_MAPPED = 13;

inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr unsigned hipEventDisableTiming = 2;
inline constexpr unsigned hipEventAllFlags = 0xe0000007;
inline constexpr unsigned hipHostMallocAllFlags = 0xe0000007;
inline constexpr unsigned hipHostRegisterAllFlags = 7;

}  // namespace peercoll::simulator::hip
