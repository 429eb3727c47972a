// SPDX-License-Identifier: BSD-3-Clause
// Names and sentences of the codes. Neither needs cuInit.
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/state.hpp"

#include <algorithm>
#include <array>

namespace peercoll::simulator::cuda {

namespace {

struct Text {
    CUresult code;
    const char* name;
    const char* sentence;
};

constexpr std::array texts = {
    Text{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    Text{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "an argument is not acceptable"},
    Text{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "not enough memory"},
    Text{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "the driver is not initialised"},
    Text{CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down"},
    Text{CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "this is a stub and no driver"},
    Text{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "there is no device"},
    Text{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "there is no such device"},
    Text{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "this is no image of device code"},
    Text{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "no context, or not one for this"},
    Text{CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping failed"},
    Text{CUDA_ERROR_ALREADY_MAPPED, "CUDA_ERROR_ALREADY_MAPPED", "it is mapped already"},
    Text{CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "no peer access between these two"},
    Text{CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "the operating system refused"},
    Text{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "this handle names nothing"},
    Text{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "nothing of that name"},
    Text{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not done yet"},
    Text{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "device code touched memory it may not"},
    Text{CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is on already"},
    Text{CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access is not on"},
    Text{CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is in use"},
    Text{CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "that context is gone"},
    Text{CUDA_ERROR_TOO_MANY_PEERS, "CUDA_ERROR_TOO_MANY_PEERS", "no more peers can be enabled"},
    Text{CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
         "a part of that memory is registered already"},
    Text{CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
         "that memory is not registered"},
    Text{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "device code failed"},
    Text{CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "not permitted here"},
    Text{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "not supported here"},
    Text{CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
         "the library and the kernel's driver do not match"},
    Text{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "something unknown went wrong"},
};

CUresult answer(CUresult code, const char** text, const char* Text::*which) {
    if (variant() == Variant::Stub) {
        return CUDA_ERROR_STUB_LIBRARY;
    }
    if (text == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto* const found =
        std::find_if(texts.begin(), texts.end(), [code](const Text& entry) { return entry.code == code; });
    *text = found == texts.end() ? nullptr : (*found).*which;
    return found == texts.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGetErrorName(CUresult code, const char** text) {
    return answer(code, text, &Text::name);
}
CUresult cuGetErrorString(CUresult code, const char** text) {
    return answer(code, text, &Text::sentence);
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
