// SPDX-License-Identifier: BSD-3-Clause
// Names and sentences of the codes, and the error that each thread keeps.
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/last_error.hpp"
#include "tests/simulated_devices/hip/version.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace peercoll::simulator::hip {

namespace {

thread_local hipError_t last_error = hipSuccess;

struct Text {
    hipError_t code;
    const char* name;
    const char* sentence;
};

constexpr std::array texts = {
    Text{hipSuccess, "hipSuccess", "no error"},
    Text{hipErrorInvalidValue, "hipErrorInvalidValue", "an argument is not acceptable"},
    Text{hipErrorOutOfMemory, "hipErrorOutOfMemory", "not enough memory"},
    Text{hipErrorNotInitialized, "hipErrorNotInitialized", "the runtime is not initialised"},
    Text{hipErrorDeinitialized, "hipErrorDeinitialized", "the runtime is shutting down"},
    Text{hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "not an address of a device"},
    Text{hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "not that kind of memory"},
    Text{hipErrorNoDevice, "hipErrorNoDevice", "there is no device"},
    Text{hipErrorInvalidDevice, "hipErrorInvalidDevice", "there is no such device"},
    Text{hipErrorInvalidImage, "hipErrorInvalidImage", "this is no image of device code"},
    Text{hipErrorInvalidContext, "hipErrorInvalidContext", "not for this process"},
    Text{hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no code for this device"},
    Text{hipErrorInvalidHandle, "hipErrorInvalidHandle", "this handle names nothing"},
    Text{hipErrorNotFound, "hipErrorNotFound", "nothing of that name"},
    Text{hipErrorNotReady, "hipErrorNotReady", "not done yet"},
    Text{hipErrorIllegalAddress, "hipErrorIllegalAddress", "device code touched memory it may not"},
    Text{hipErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled", "peer access is on already"},
    Text{hipErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled", "peer access is not on"},
    Text{hipErrorContextIsDestroyed, "hipErrorContextIsDestroyed", "that stream is gone"},
    Text{hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered", "it is registered already"},
    Text{hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered", "it is not registered"},
    Text{hipErrorLaunchFailure, "hipErrorLaunchFailure", "device code failed"},
    Text{hipErrorNotSupported, "hipErrorNotSupported", "not supported here"},
    Text{hipErrorUnknown, "hipErrorUnknown", "something unknown went wrong"},
};

const char* text_of(hipError_t code, const char* Text::*which) {
    const auto* const found =
        std::find_if(texts.begin(), texts.end(), [code](const Text& entry) { return entry.code == code; });
    return found == texts.end() ? "hipErrorUnknown" : (*found).*which;
}

}  // namespace

hipError_t finish(hipError_t result) {
    const bool error = result != hipSuccess && result != hipErrorNotReady;
    if (error || !errors_stay()) {
        last_error = result;
    }
    return result;
}

extern "C" {

const char* hipGetErrorName(hipError_t code) {
    return text_of(code, &Text::name);
}
const char* hipGetErrorString(hipError_t code) {
    return text_of(code, &Text::sentence);
}
hipError_t hipGetLastError(void) {
    return std::exchange(last_error, hipSuccess);
}
hipError_t hipPeekAtLastError(void) {
    return last_error;
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
