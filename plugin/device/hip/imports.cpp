// SPDX-License-Identifier: BSD-3-Clause
// What release_mapping() needs lies in a mapping's `opaque`: the attachment's generation, and the address.
#include "plugin/device/hip/imports.hpp"

#include "plugin/device/hip/current_device.hpp"
#include "plugin/device/hip/devices.hpp"
#include "plugin/device/hip/ipc_handle.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

enum Opaque { Generation, Address };

constexpr std::string_view mapping_it = "mapping another process's memory";

std::string_view advice_for(HipError error) {
    switch (error) {
        case code::invalid_context:
            return "it is this process's own, or its owner has the same pid in another pid namespace";
        case code::invalid_device_pointer:
            return "its owner has freed it, or is in another container, or the two devices cannot reach each other";
        default:
            return {};
    }
}

Status open_handle(const Attachment& attachment, OpenHandles::Import& import) {
    const HipFunctions& hip = attachment.hip;
    const unsigned flag = ipc_flag(attachment.version);
    void* address = nullptr;
    HipError error = hip.ipc_open_handle(&address, import.handle, flag);
    // A release that counts as one and behaves as the other: the wrong flag is an error of its own.
    if (error == code::invalid_value) error = hip.ipc_open_handle(&address, import.handle, 1 - flag);
    if (error != code::success) return hip_error(hip, error, mapping_it, advice_for(error));
    import.address = reinterpret_cast<std::uint64_t>(address);
    return {};
}

void close_handle(const HipFunctions& hip, std::uint64_t address) {
    (void)hip.ipc_close_handle(reinterpret_cast<void*>(address));  // an error: it went with the runtime
}

// The size came from another process: what was mapped must be at least as large.
Status check_size(const HipFunctions& hip, const OpenHandles::Import& import) {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (const HipError error = hip.memory_get_address_range(&base, &bytes, reinterpret_cast<void*>(import.address));
        error != code::success)
        return hip_error(hip, error, "asking how much of another process's memory was mapped");
    const std::uint64_t before = import.address - reinterpret_cast<std::uint64_t>(base);
    const std::uint64_t left = bytes - std::min<std::uint64_t>(before, bytes);
    if (left >= import.bytes) return {};
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("a handle says that its allocation has {} bytes, but it has {}", import.bytes, left)};
}

Status open_and_check(const Attachment& attachment, OpenHandles::Import& import) {
    if (Status status = open_handle(attachment, import); !status.ok()) return status;
    Status status = check_size(attachment.hip, import);
    if (!status.ok()) close_handle(attachment.hip, import.address);
    return status;
}

// `owner`: the device where the memory is.
Status check(const Attachment& attachment, const peercoll_memory_handle_t& handle, const NamedAllocation& named,
             const Device*& owner) {
    if (handle.kind != PEERCOLL_HANDLE_IPC || handle.bytes == 0)
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("a handle of kind {} and {} bytes: expected kind 1, and more than 0 bytes", handle.kind,
                            handle.bytes)};
    owner = with_uuid(attachment, handle.device_uuid);
    if (owner == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                "the memory is on a device that this process does not see (HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES)"};
    if (named.owner_version != attachment.version.number)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("the owner uses HIP {}, and this process HIP {}: expected the same release",
                            named.owner_version, attachment.version.number)};
    if (opens_by_owners_ordinal(attachment.version) && named.owner_ordinal != owner->ordinal)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("the owner calls its device {}, and this process calls it {}, which HIP 7 would mistake: "
                            "expected the same HIP_VISIBLE_DEVICES for all processes",
                            named.owner_ordinal, owner->ordinal)};
    return {};
}

}  // namespace

peercoll_status_t import_memory(int32_t ordinal, const peercoll_memory_handle_t* handle, int,
                                peercoll_mapping_t* mapping, peercoll_reason_t* reason) {
    *mapping = {};
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (attachment.device(ordinal) == nullptr) return no_device(attachment, ordinal);
        const NamedAllocation named = named_by(*handle);
        const Device* owner = nullptr;
        if (Status status = check(attachment, *handle, named, owner); !status.ok()) return status;
        // Before ROCm 7 what is opened belongs to the current device.
        return on_device(attachment, ordinal, [&](Device&) {
            OpenHandles::Import import{named.handle, handle->allocation_id, ordinal, owner->ordinal, 0, handle->bytes};
            Status status = attachment.imports.take(
                import, [&](OpenHandles::Import& opened) { return open_and_check(attachment, opened); });
            if (!status.ok()) return status;
            mapping->address = import.address;
            mapping->bytes = handle->bytes;
            mapping->device = ordinal;
            mapping->kind = handle->kind;
            mapping->opaque[Generation] = attachment.generation;
            mapping->opaque[Address] = import.address;
            return status;
        });
    });
}

void release_mapping(peercoll_mapping_t* mapping) {
    const peercoll_mapping_t gone = *mapping;
    *mapping = {};
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (gone.kind == 0 || gone.opaque[Generation] != attachment.generation) return {};
        return on_device(attachment, gone.device, [&](Device&) {
            attachment.imports.release(gone.opaque[Address], gone.device,
                                       [&](std::uint64_t address) { close_handle(attachment.hip, address); });
            return Status();
        });
    });
}

}  // namespace peercoll::hip
