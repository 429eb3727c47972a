// SPDX-License-Identifier: BSD-3-Clause
// ACL as this process loaded it. A function that a release does not have makes the behaviour a skipped one.
#pragma once

#include "plugin/device/ascend/acl_types.hpp"
#include "tests/conformance/runner/library_function.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll::conformance::ascend {

using namespace peercoll::ascend;

// libascendcl.so, else libacl_rt.so; loaded once per process and never unloaded. Skips where there is neither.
void* acl_library();
void* find_in_acl(const char* symbol);  // nullptr: not there

template <typename Signature>
using Function = LibraryFunction<find_in_acl, Signature>;

// Members are named as ACL's functions are.
struct Library {
    Function<AclError(const char*)> aclInit{"aclInit"};
    Function<AclError()> aclFinalize{"aclFinalize"};
    Function<AclError(std::uint64_t*)> aclFinalizeReference{"aclFinalizeReference"};
    Function<AclError(std::int32_t*, std::int32_t*, std::int32_t*)> aclrtGetVersion{"aclrtGetVersion"};
    Function<const char*()> aclGetRecentErrMsg{"aclGetRecentErrMsg"};
    Function<const char*()> aclrtGetSocName{"aclrtGetSocName"};

    Function<AclError(std::uint32_t*)> aclrtGetDeviceCount{"aclrtGetDeviceCount"};
    Function<AclError(std::int32_t)> aclrtSetDevice{"aclrtSetDevice"};
    Function<AclError(std::int32_t*)> aclrtGetDevice{"aclrtGetDevice"};
    Function<AclError(std::int32_t)> aclrtResetDevice{"aclrtResetDevice"};
    Function<AclError(std::int32_t)> aclrtResetDeviceForce{"aclrtResetDeviceForce"};
    Function<AclError(AclContext*)> aclrtGetCurrentContext{"aclrtGetCurrentContext"};
    Function<AclError(AclContext)> aclrtSetCurrentContext{"aclrtSetCurrentContext"};
    Function<AclError(std::int32_t, AclUuid*)> aclrtDeviceGetUuid{"aclrtDeviceGetUuid"};
    Function<AclError(std::int32_t, std::int32_t*)> aclrtGetLogicDevIdByUserDevId{"aclrtGetLogicDevIdByUserDevId"};
    Function<AclError(std::int32_t, std::int32_t*)> aclrtGetPhyDevIdByLogicDevId{"aclrtGetPhyDevIdByLogicDevId"};

    Function<AclError(std::int32_t*, std::int32_t, std::int32_t)> aclrtDeviceCanAccessPeer{"aclrtDeviceCanAccessPeer"};
    Function<AclError(std::int32_t, std::uint32_t)> aclrtDeviceEnablePeerAccess{"aclrtDeviceEnablePeerAccess"};
    Function<AclError(std::int32_t)> aclrtDeviceDisablePeerAccess{"aclrtDeviceDisablePeerAccess"};

    Function<AclError(void**, std::size_t, int)> aclrtMalloc{"aclrtMalloc"};
    Function<AclError(void*)> aclrtFree{"aclrtFree"};
    Function<AclError(void**, std::size_t)> aclrtMallocHost{"aclrtMallocHost"};
    Function<AclError(void*)> aclrtFreeHost{"aclrtFreeHost"};
    Function<AclError(const void*, AclPointerAttributes*)> aclrtPointerGetAttributes{"aclrtPointerGetAttributes"};
    Function<AclError(void*, void**, std::size_t*)> aclrtMemGetAddressRange{"aclrtMemGetAddressRange"};
    Function<AclError(void*, std::size_t, const void*, std::size_t, int)> aclrtMemcpy{"aclrtMemcpy"};
    Function<AclError(void*, std::size_t, const void*, std::size_t, int, AclStream)> aclrtMemcpyAsync{
        "aclrtMemcpyAsync"};
    Function<AclError(void*, const void*, std::uint64_t, int, int, AclStream, void*)> aclrtReduceAsync{
        "aclrtReduceAsync"};

    Function<AclError(AclStream*)> aclrtCreateStream{"aclrtCreateStream"};
    Function<AclError(AclStream)> aclrtDestroyStream{"aclrtDestroyStream"};
    Function<AclError(AclStream)> aclrtSynchronizeStream{"aclrtSynchronizeStream"};
    Function<AclError(AclStream, int*)> aclrtStreamQuery{"aclrtStreamQuery"};
    Function<AclError(AclStream, AclEvent)> aclrtStreamWaitEvent{"aclrtStreamWaitEvent"};
    Function<AclError(AclEvent*)> aclrtCreateEvent{"aclrtCreateEvent"};
    Function<AclError(AclEvent*, std::uint32_t)> aclrtCreateEventExWithFlag{"aclrtCreateEventExWithFlag"};
    Function<AclError(AclEvent)> aclrtDestroyEvent{"aclrtDestroyEvent"};
    Function<AclError(AclEvent, AclStream)> aclrtRecordEvent{"aclrtRecordEvent"};
    Function<AclError(AclEvent, int*)> aclrtQueryEvent{"aclrtQueryEvent"};
    Function<AclError(AclEvent, int*)> aclrtQueryEventStatus{"aclrtQueryEventStatus"};

    Function<AclError(void*, std::size_t, char*, std::size_t, std::uint64_t)> aclrtIpcMemGetExportKey{
        "aclrtIpcMemGetExportKey"};
    Function<AclError(const char*, std::int32_t*, std::size_t)> aclrtIpcMemSetImportPid{"aclrtIpcMemSetImportPid"};
    Function<AclError(void**, const char*, std::uint64_t)> aclrtIpcMemImportByKey{"aclrtIpcMemImportByKey"};
    Function<AclError(const char*)> aclrtIpcMemClose{"aclrtIpcMemClose"};
    Function<AclError(std::int32_t*)> aclrtDeviceGetBareTgid{"aclrtDeviceGetBareTgid"};
};

const Library& lib();

}  // namespace peercoll::conformance::ascend
