// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/exports.hpp"

#include "plugin/device/ascend/current_context.hpp"

#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

static_assert(key_bytes <= sizeof(peercoll_memory_handle_t::data));

constexpr std::string_view naming = "naming an allocation to other processes";

// The driver's list has the host's pids. Ours are the same unless this process is in a pid namespace of its own.
Status add_reader(const AclFunctions& acl, const Allocation& named, std::int32_t reader) {
    std::int32_t bare = -1;
    if (acl.ipc_set_readers == nullptr || acl.get_bare_pid == nullptr || acl.get_bare_pid(&bare) != code::success)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this release of ACL cannot let another process read an allocation"};
    if (bare != ::getpid())
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("the driver calls this process {} and the container calls it {}, so a reader's pid cannot "
                            "be told to it: expected the host's pid namespace",
                            bare, ::getpid())};
    const AclError error = acl.ipc_set_readers(named.key.data(), &reader, 1);
    return error == code::success ? Status()
                                  : acl_error(acl, error, fmt::format("letting process {} read memory", reader));
}

Status make_key(const AclFunctions& acl, Allocation& allocation, bool for_all) {
    const AclError error = acl.ipc_get_key(reinterpret_cast<void*>(allocation.base), allocation.bytes,
                                           allocation.key.data(), key_bytes, for_all ? export_to_any_process : 0);
    if (error != code::success)
        return acl_error(acl, error, naming,
                         for_all ? "expected memory of aclrtMalloc, and a release that lets any process read it"
                                 : "expected memory of aclrtMalloc");
    allocation.key.back() = '\0';
    allocation.named = true;
    allocation.for_all = for_all;
    return {};
}

Status name(Attachment& attachment, Allocation& allocation, std::int32_t reader) {
    const AclFunctions& acl = attachment.acl;
    if (allocation.named && !allocation.for_all && reader == 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "an allocation that is named to some processes already: expected a reader"};
    if (!allocation.named) {
        if (Status status = make_key(acl, allocation, reader == 0); !status.ok()) return status;
        if (!attachment.allocations.set_key(allocation)) {
            close_export(attachment, allocation);
            return {PEERCOLL_ERR_INVALID_ARGUMENT, "an allocation that was freed meanwhile"};
        }
    }
    return allocation.for_all ? Status() : add_reader(acl, allocation, reader);
}

}  // namespace

peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t reader_pid,
                                peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason) {
    *handle = {};
    *fd = -1;
    return attached(reason, [&](Attachment& attachment) -> Status {
        Allocation allocation;
        if (kind != PEERCOLL_HANDLE_IPC || (info->handle_kinds & (1U << PEERCOLL_HANDLE_IPC)) == 0 ||
            !attachment.allocations.find(info->base, info->allocation_id, allocation))
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("memory at {:#x} cannot be named by a handle of kind {}: expected one of classify()'s",
                                info->base, kind)};
        return on_device(attachment, allocation.device, [&](Device& device) -> Status {
            if (Status status = name(attachment, allocation, reader_pid); !status.ok()) return status;
            handle->kind = kind;
            handle->allocation_id = allocation.id;
            handle->base = allocation.base;
            handle->bytes = allocation.bytes;
            std::memcpy(handle->device_uuid, device.info.uuid, sizeof handle->device_uuid);
            std::memcpy(handle->data, allocation.key.data(), key_bytes);
            return {};
        });
    });
}

void close_export(const Attachment& attachment, const Allocation& allocation) {
    // Refused while others have it open: the driver then keeps it until they are done.
    if (allocation.named) (void)attachment.acl.ipc_close(allocation.key.data());
}

void close_exports(Attachment& attachment) {
    Allocation one;
    while (attachment.allocations.remove_any(one))
        if (one.named)
            (void)on_device(attachment, one.device, [&](Device&) {
                close_export(attachment, one);
                return Status();
            });
}

}  // namespace peercoll::ascend
