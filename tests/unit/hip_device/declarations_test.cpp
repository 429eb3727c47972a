// SPDX-License-Identifier: BSD-3-Clause
// Our declarations against ROCm's headers, whichever release they are of: the compiler is the test.
#include "plugin/device/hip/hip_api.hpp"
#include "plugin/device/hip/hiprtc_library.hpp"
#include "plugin/device/hip/versions.hpp"

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstddef>
#include <type_traits>

namespace peercoll::hip {
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
// The one struct that we take as bytes, since it grows.
template <>
struct Plain<hipDeviceProp_t> {
    using type = void;
};
template <>
struct Plain<unsigned long> {  // std::size_t and std::uint64_t
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

template <typename Ours, typename Rocms>
constexpr bool agree = std::is_same_v<PlainType<Ours>, PlainType<Rocms>>;

using F = HipFunctions;
// C++ headers overload some names; the cast below chooses the one of the library.
#define PEERCOLL_AGREES(member, function) static_assert(agree<decltype(F::member), decltype(&::function)>)
PEERCOLL_AGREES(init, hipInit);
PEERCOLL_AGREES(runtime_get_version, hipRuntimeGetVersion);
PEERCOLL_AGREES(get_error_name, hipGetErrorName);
PEERCOLL_AGREES(get_last_error, hipGetLastError);
PEERCOLL_AGREES(peek_at_last_error, hipPeekAtLastError);
PEERCOLL_AGREES(get_device_count, hipGetDeviceCount);
PEERCOLL_AGREES(get_device, hipGetDevice);
PEERCOLL_AGREES(set_device, hipSetDevice);
PEERCOLL_AGREES(device_get_name, hipDeviceGetName);
PEERCOLL_AGREES(device_get_attribute, hipDeviceGetAttribute);
PEERCOLL_AGREES(device_total_memory, hipDeviceTotalMem);
PEERCOLL_AGREES(device_can_access_peer, hipDeviceCanAccessPeer);
PEERCOLL_AGREES(device_enable_peer, hipDeviceEnablePeerAccess);
PEERCOLL_AGREES(device_disable_peer, hipDeviceDisablePeerAccess);
PEERCOLL_AGREES(pointer_get_attributes, hipPointerGetAttributes);
PEERCOLL_AGREES(memory_get_address_range, hipMemGetAddressRange);
PEERCOLL_AGREES(memory_free, hipFree);
PEERCOLL_AGREES(host_free, hipHostFree);
PEERCOLL_AGREES(host_register, hipHostRegister);
PEERCOLL_AGREES(host_unregister, hipHostUnregister);
PEERCOLL_AGREES(host_get_device_address, hipHostGetDevicePointer);
PEERCOLL_AGREES(memory_copy_async, hipMemcpyAsync);
PEERCOLL_AGREES(memory_copy_peer_async, hipMemcpyPeerAsync);
PEERCOLL_AGREES(memory_set_async, hipMemsetAsync);
PEERCOLL_AGREES(stream_create, hipStreamCreateWithFlags);
PEERCOLL_AGREES(stream_destroy, hipStreamDestroy);
PEERCOLL_AGREES(stream_query, hipStreamQuery);
PEERCOLL_AGREES(stream_synchronize, hipStreamSynchronize);
PEERCOLL_AGREES(stream_wait_event, hipStreamWaitEvent);
PEERCOLL_AGREES(event_create, hipEventCreateWithFlags);
PEERCOLL_AGREES(event_destroy, hipEventDestroy);
PEERCOLL_AGREES(event_record, hipEventRecord);
PEERCOLL_AGREES(event_query, hipEventQuery);
PEERCOLL_AGREES(event_synchronize, hipEventSynchronize);
PEERCOLL_AGREES(ipc_get_handle, hipIpcGetMemHandle);
PEERCOLL_AGREES(ipc_open_handle, hipIpcOpenMemHandle);
PEERCOLL_AGREES(ipc_close_handle, hipIpcCloseMemHandle);
PEERCOLL_AGREES(module_load_data, hipModuleLoadData);
PEERCOLL_AGREES(module_unload, hipModuleUnload);
PEERCOLL_AGREES(module_get_function, hipModuleGetFunction);
PEERCOLL_AGREES(launch_kernel, hipModuleLaunchKernel);
PEERCOLL_AGREES(device_get_uuid, hipDeviceGetUuid);
PEERCOLL_AGREES(pointer_get_attribute, hipPointerGetAttribute);
PEERCOLL_AGREES(exchange_capture_mode, hipThreadExchangeStreamCaptureMode);
PEERCOLL_AGREES(stream_write_value_64, hipStreamWriteValue64);
#undef PEERCOLL_AGREES
// Names with C++ overloads beside the library's function.
template <typename Function>
constexpr Function* chosen(Function* function) {
    return function;
}
static_assert(chosen<hipError_t(void**, std::size_t)>(&::hipMalloc) != nullptr);
static_assert(chosen<hipError_t(void**, std::size_t, unsigned)>(&::hipHostMalloc) != nullptr);
static_assert(chosen<hipError_t(char*, int, int)>(&::hipDeviceGetPCIBusId) != nullptr);
static_assert(agree<decltype(F::memory_allocate), hipError_t (*)(void**, std::size_t)>);
static_assert(agree<decltype(F::host_allocate), hipError_t (*)(void**, std::size_t, unsigned)>);
static_assert(agree<decltype(F::device_get_pci_id), hipError_t (*)(char*, int, int)>);
static_assert(agree<decltype(F::get_old_properties), decltype(&::hipGetDeviceProperties)>);

using R = HiprtcFunctions;
static_assert(agree<decltype(R::version), decltype(&::hiprtcVersion)>);
static_assert(agree<decltype(R::get_error_string), decltype(&::hiprtcGetErrorString)>);
static_assert(agree<decltype(R::get_log_size), decltype(&::hiprtcGetProgramLogSize)>);
static_assert(agree<decltype(R::get_log), decltype(&::hiprtcGetProgramLog)>);
static_assert(agree<decltype(R::get_code_size), decltype(&::hiprtcGetCodeSize)>);
static_assert(agree<decltype(R::get_code), decltype(&::hiprtcGetCode)>);
static_assert(agree<decltype(R::destroy_program), decltype(&::hiprtcDestroyProgram)>);

static_assert(code::success == hipSuccess && code::invalid_value == hipErrorInvalidValue);
static_assert(code::out_of_memory == hipErrorOutOfMemory && code::not_initialized == hipErrorNotInitialized);
static_assert(code::deinitialized == hipErrorDeinitialized && code::no_device == hipErrorNoDevice);
static_assert(code::invalid_device_pointer == hipErrorInvalidDevicePointer);
static_assert(code::invalid_device == hipErrorInvalidDevice && code::invalid_context == hipErrorInvalidContext);
static_assert(code::no_binary_for_gpu == hipErrorNoBinaryForGpu && code::not_found == hipErrorNotFound);
static_assert(code::peer_access_unsupported == hipErrorPeerAccessUnsupported && code::not_ready == hipErrorNotReady);
static_assert(code::illegal_address == hipErrorIllegalAddress && code::launch_timeout == hipErrorLaunchTimeOut);
static_assert(code::peer_access_already_enabled == hipErrorPeerAccessAlreadyEnabled);
static_assert(code::peer_access_not_enabled == hipErrorPeerAccessNotEnabled);
static_assert(code::context_is_destroyed == hipErrorContextIsDestroyed);
static_assert(code::host_memory_already_registered == hipErrorHostMemoryAlreadyRegistered);
static_assert(code::launch_failure == hipErrorLaunchFailure && code::not_supported == hipErrorNotSupported);
static_assert(hiprtc_success == HIPRTC_SUCCESS);

static_assert(pointer_attribute::sync_memops == HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS);
static_assert(pointer_attribute::buffer_id == HIP_POINTER_ATTRIBUTE_BUFFER_ID);
static_assert(device_attribute::multiprocessor_count == hipDeviceAttributeMultiprocessorCount);
static_assert(device_attribute::warp_size == hipDeviceAttributeWarpSize);
static_assert(device_attribute::can_use_stream_wait_value == hipDeviceAttributeCanUseStreamWaitValue);
static_assert(copy_default == hipMemcpyDefault && stream_non_blocking == hipStreamNonBlocking);
static_assert(event_disable_timing == hipEventDisableTiming);
static_assert(event_release_to_system == static_cast<unsigned>(hipEventReleaseToSystem));
static_assert(host_portable == hipHostMallocPortable && host_portable == hipHostRegisterPortable);
static_assert(host_mapped == hipHostMallocMapped && host_mapped == hipHostRegisterMapped);
static_assert(capture_mode_relaxed == hipStreamCaptureModeRelaxed);

static_assert(sizeof(HipPointerAttributes) == sizeof(hipPointerAttribute_t));
static_assert(offsetof(HipPointerAttributes, device) == offsetof(hipPointerAttribute_t, device));
static_assert(offsetof(HipPointerAttributes, is_managed) == offsetof(hipPointerAttribute_t, isManaged));
static_assert(sizeof(HipIpcHandle) == sizeof(hipIpcMemHandle_t) && sizeof(HipUuid) == sizeof(hipUUID));
static_assert(sizeof(hipDeviceProp_t) <= properties_bytes);

// What these headers' own release is expected to say.
TEST(HipDeclarations, OfWhatDiffersAreThoseOfTheHeadersRelease) {
    const Version version{HIP_VERSION_MAJOR * 10'000'000 + HIP_VERSION_MINOR * 100'000};
    EXPECT_EQ(ipc_flag(version), static_cast<unsigned>(hipIpcMemLazyEnablePeerAccess));
    HipPointerAttributes attributes{};
    attributes.type = hipMemoryTypeHost;
    EXPECT_EQ(memory_kind(version, attributes), PEERCOLL_MEMORY_PINNED);
    attributes.type = hipMemoryTypeDevice;
    EXPECT_EQ(memory_kind(version, attributes), PEERCOLL_MEMORY_DEVICE);
    EXPECT_EQ(offsetof(hipDeviceProp_t, gcnArchName),
              HIP_VERSION_MAJOR < 6 ? old_architecture_offset : new_architecture_offset);
}

}  // namespace
}  // namespace peercoll::hip
