// SPDX-License-Identifier: BSD-3-Clause
// Types and constants of HIP on AMD devices, declared by hand so that neither ROCm's headers nor its libraries are
// needed to build. Only what is the same in ROCm 5, 6 and 7; what is not, versions.hpp knows. tests/unit/hip_device/
// compares both with ROCm's headers where those are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::hip {

using HipError = int;
using HipStream = struct HipStreamObject*;
using HipEvent = struct HipEventObject*;
using HipModule = struct HipModuleObject*;
using HipFunction = struct HipFunctionObject*;

struct HipUuid {
    char bytes[16];
};
struct HipIpcHandle {
    char bytes[64];
};
struct HipPointerAttributes {  // hipPointerAttribute_t
    int type;                  // what the numbers mean depends on the version
    int device;
    void* device_pointer;
    void* host_pointer;
    int is_managed;
    unsigned flags;
};
static_assert(sizeof(HipPointerAttributes) == 32);

namespace code {
constexpr HipError success = 0;
constexpr HipError invalid_value = 1;
constexpr HipError out_of_memory = 2;
constexpr HipError not_initialized = 3;
constexpr HipError deinitialized = 4;
constexpr HipError invalid_device_pointer = 17;
constexpr HipError no_device = 100;
constexpr HipError invalid_device = 101;
constexpr HipError invalid_context = 201;
constexpr HipError no_binary_for_gpu = 209;
constexpr HipError peer_access_unsupported = 217;
constexpr HipError not_found = 500;
constexpr HipError not_ready = 600;
constexpr HipError illegal_address = 700;
constexpr HipError launch_timeout = 702;
constexpr HipError peer_access_already_enabled = 704;
constexpr HipError peer_access_not_enabled = 705;
constexpr HipError context_is_destroyed = 709;
constexpr HipError host_memory_already_registered = 712;
constexpr HipError launch_failure = 719;
constexpr HipError not_supported = 801;
}  // namespace code

namespace pointer_attribute {
constexpr int sync_memops = 6;
constexpr int buffer_id = 7;
}  // namespace pointer_attribute

namespace device_attribute {
constexpr int multiprocessor_count = 63;
constexpr int warp_size = 87;
constexpr int can_use_stream_wait_value = 10013;
}  // namespace device_attribute

constexpr int copy_default = 4;  // the runtime looks which memories they are
constexpr unsigned stream_non_blocking = 1;
constexpr unsigned event_disable_timing = 2;
constexpr unsigned event_release_to_system = 0x80000000;
constexpr unsigned host_portable = 1;  // of hipHostMalloc and hipHostRegister alike
constexpr unsigned host_mapped = 2;
constexpr int capture_mode_relaxed = 2;

}  // namespace peercoll::hip
