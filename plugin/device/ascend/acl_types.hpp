// SPDX-License-Identifier: BSD-3-Clause
// Types and constants of ACL, the runtime of Ascend devices, declared by hand so that neither CANN's headers nor its
// libraries are needed to build. None of them changed between CANN 5.1 and 9; which functions there are did.
// tests/unit/ascend_device/ compares them with CANN's headers where those are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::ascend {

using AclError = int;
using AclContext = void*;
using AclStream = void*;
using AclEvent = void*;

struct AclMemoryLocation {
    std::uint32_t id;
    int type;
};
struct AclPointerAttributes {
    AclMemoryLocation location;
    std::uint32_t page_size;
    std::uint32_t reserved[4];
};
static_assert(sizeof(AclPointerAttributes) == 28);
struct AclUuid {
    char bytes[16];
};

namespace code {
constexpr AclError success = 0;
constexpr AclError invalid_param = 100000;
constexpr AclError uninitialized = 100001;
constexpr AclError repeat_initialize = 100002;
constexpr AclError repeat_finalize = 100037;
constexpr AclError compiling_stub_mode = 100039;
constexpr AclError bad_alloc = 200000;
constexpr AclError api_not_support = 200001;
constexpr AclError invalid_device = 200002;
constexpr AclError feature_unsupported = 200006;
constexpr AclError rt_param_invalid = 107000;
constexpr AclError rt_invalid_device = 107001;
constexpr AclError rt_context_null = 107002;
constexpr AclError rt_stream_context = 107003;
constexpr AclError rt_feature_not_support = 207000;
constexpr AclError rt_memory_allocation = 207001;
constexpr AclError rt_no_device = 207004;
constexpr AclError rt_no_permission = 207006;
constexpr AclError rt_device_out_of_memory = 207018;
constexpr AclError rt_driver_internal = 507899;
}  // namespace code

namespace copy_kind {
constexpr int host_to_device = 1;
constexpr int device_to_host = 2;
constexpr int device_to_device = 3;  // within a device and between two
}  // namespace copy_kind

namespace location {
constexpr int host = 0;
constexpr int device = 1;
constexpr int unregistered = 2;
constexpr int managed = 3;
}  // namespace location

namespace reduce {
constexpr int sum = 10;
constexpr int max = 11;
constexpr int min = 12;
}  // namespace reduce

namespace data_type {
constexpr int float32 = 0;
constexpr int float16 = 1;
constexpr int int8 = 2;
constexpr int int32 = 3;
constexpr int int16 = 6;
constexpr int uint32 = 8;
constexpr int bfloat16 = 27;
}  // namespace data_type

constexpr int malloc_huge_first_p2p = 3;
constexpr int host_register_mapped = 0;
constexpr int attribute_total_memory = 301;
constexpr std::uint32_t event_sync = 1;             // it is for streams to wait for
constexpr int stream_complete = 0;                  // aclrtStreamStatus
constexpr int event_complete = 0;                   // aclrtEventStatus, of aclrtQueryEvent
constexpr int event_recorded_complete = 1;          // aclrtEventRecordedStatus: the other way round
constexpr std::size_t key_bytes = 65;               // of an IPC key, with its terminator
constexpr std::uint64_t export_to_any_process = 1;  // no list of readers' pids
constexpr std::uint64_t import_with_peer_access = 1;
constexpr std::uint64_t topology_same_package = 0x20;  // SIO: two dies

}  // namespace peercoll::ascend
