// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/exports.hpp"

#include "plugin/device/hip/current_device.hpp"
#include "plugin/device/hip/ipc_handle.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

// HIP takes any address of an allocation, and what is opened then begins there. We name its base, as everywhere.
peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t,
                                peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason) {
    *handle = {};
    *fd = -1;
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (info->kind != PEERCOLL_MEMORY_DEVICE || info->bytes == 0 || kind > 31 ||
            (info->handle_kinds & (1U << kind)) == 0 || kind != PEERCOLL_HANDLE_IPC)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("memory at {:#x} cannot be named by a handle of kind {}: expected one of classify()'s",
                                info->base, kind)};
        return on_device(attachment, info->device, [&](Device& device) -> Status {
            NamedAllocation named{};
            named.owner_ordinal = device.ordinal;
            named.owner_version = attachment.version.number;
            const HipError error = attachment.hip.ipc_get_handle(&named.handle, reinterpret_cast<void*>(info->base));
            if (error != code::success)
                return hip_error(attachment.hip, error, "naming an allocation to other processes",
                                 "expected memory of hipMalloc or hipExtMallocWithFlags");
            handle->kind = kind;
            handle->allocation_id = info->allocation_id;
            handle->base = info->base;
            handle->bytes = info->bytes;
            std::memcpy(handle->device_uuid, device.info.uuid, sizeof handle->device_uuid);
            put(*handle, named);
            return {};
        });
    });
}

}  // namespace peercoll::hip
