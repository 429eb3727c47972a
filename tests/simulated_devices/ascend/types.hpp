// SPDX-License-Identifier: BSD-3-Clause
// Types and constants of ACL's binary interface, as far as the simulated runtime needs them. Declared here, so that it
// builds without CANN.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peercoll::simulator::acl {

using aclError = int;
using aclrtContext = void*;
using aclrtStream = void*;
using aclrtEvent = void*;

struct aclrtMemLocation {
    std::uint32_t id;
    int type;
};
struct aclrtPtrAttributes {
    aclrtMemLocation location;
    std::uint32_t pageSize;
    std::uint32_t rsv[4];
};
static_assert(sizeof(aclrtPtrAttributes) == 28);
struct aclrtUuid {
    char bytes[16];
};

enum : aclError {
    ACL_SUCCESS = 0,
    ACL_ERROR_INVALID_PARAM = 100000,
    ACL_ERROR_UNINITIALIZE = 100001,
    ACL_ERROR_REPEAT_INITIALIZE = 100002,
    ACL_ERROR_REPEAT_FINALIZE = 100037,
    ACL_ERROR_COMPILING_STUB_MODE = 100039,
    ACL_ERROR_FEATURE_UNSUPPORTED = 200006,
    ACL_ERROR_RT_PARAM_INVALID = 107000,
    ACL_ERROR_RT_INVALID_DEVICEID = 107001,
    ACL_ERROR_RT_CONTEXT_NULL = 107002,
    ACL_ERROR_RT_STREAM_CONTEXT = 107003,
    ACL_ERROR_RT_ADDR_UNALIGNED = 107008,
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000,
    ACL_ERROR_RT_MEMORY_ALLOCATION = 207001,
    ACL_ERROR_RT_NO_DEVICE = 207004,
    ACL_ERROR_RT_NO_PERMISSION = 207006,
    ACL_ERROR_RT_DRV_INTERNAL_ERROR = 507899,
};

enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Default,
    HostToBuffer,
    InnerDevice,
    InterDevice
};
enum LocationType { LocationHost, LocationDevice, LocationUnregistered };
enum ReduceKind { ReduceSum = 10, ReduceMax = 11, ReduceMin = 12 };
enum DataType {
    Float = 0,
    Float16 = 1,
    Int8 = 2,
    Int32 = 3,
    Int16 = 6,
    UInt32 = 8,
    BFloat16 = 27,
};

}  // namespace peercoll::simulator::acl
