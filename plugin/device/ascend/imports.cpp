// SPDX-License-Identifier: BSD-3-Clause
// What release_mapping() needs lies in a mapping's `opaque`: the attachment's generation, and the address.
#include "plugin/device/ascend/imports.hpp"

#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/devices.hpp"

#include <cstring>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

enum Opaque { Generation, Address };

constexpr std::string_view mapping_it = "mapping another process's memory";

Status open_key(const AclFunctions& acl, OpenKeys::Import& import) {
    void* address = nullptr;
    AclError error = acl.ipc_import(&address, import.key.data(), import_with_peer_access);
    // Early releases take no flags; within one device none is needed.
    if (error == code::rt_param_invalid && import.device == import.owner_device)
        error = acl.ipc_import(&address, import.key.data(), 0);
    if (error != code::success)
        return acl_error(acl, error, mapping_it,
                         "its owner has freed it or may not let us, or the two devices cannot reach each other");
    import.address = reinterpret_cast<std::uint64_t>(address);
    return {};
}

// ACL does not tell how large a mapping is before CANN 9; where it does, the size that the other process says is
// checked.
Status check_size(const AclFunctions& acl, const OpenKeys::Import& import) {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (acl.memory_get_address_range == nullptr ||
        acl.memory_get_address_range(reinterpret_cast<void*>(import.address), &base, &bytes) != code::success ||
        bytes >= import.bytes)
        return {};
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("a handle says that its allocation has {} bytes, but it has {}", import.bytes, bytes)};
}

Status check(const Attachment& attachment, const peercoll_memory_handle_t& handle, const Device*& owner) {
    if (handle.kind != PEERCOLL_HANDLE_IPC || handle.bytes == 0)
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("a handle of kind {} and {} bytes: expected kind 1, and more than 0 bytes", handle.kind,
                            handle.bytes)};
    if (handle.data[0] == 0 || std::memchr(handle.data, 0, key_bytes) == nullptr)
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "a handle without a key: expected a text of 1 to 64 letters"};
    if (!attachment.acl.has_ipc())
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this release of ACL maps no other process's memory: expected CANN 8.3"};
    owner = with_uuid(attachment, handle.device_uuid);
    if (owner == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                "the memory is on a device that this process does not see (ASCEND_RT_VISIBLE_DEVICES)"};
    return {};
}

}  // namespace

peercoll_status_t import_memory(int32_t ordinal, const peercoll_memory_handle_t* handle, int,
                                peercoll_mapping_t* mapping, peercoll_reason_t* reason) {
    *mapping = {};
    return attached(reason, [&](Attachment& attachment) -> Status {
        const Device* owner = nullptr;
        if (Status status = check(attachment, *handle, owner); !status.ok()) return status;
        // What is opened belongs to the current device.
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            if (!device.shares)
                return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{} maps no other process's memory", device.info.name)};
            OpenKeys::Import import;
            std::memcpy(import.key.data(), handle->data, key_bytes);
            // What is behind the key's end is no part of it, and must not make it another.
            std::memset(import.key.data() + std::strlen(import.key.data()), 0,
                        key_bytes - std::strlen(import.key.data()));
            import.device = ordinal;
            import.owner_device = owner->ordinal;
            import.bytes = handle->bytes;
            Status status = attachment.imports.take(import, [&](OpenKeys::Import& opened) {
                if (Status open = open_key(attachment.acl, opened); !open.ok()) return open;
                Status size = check_size(attachment.acl, opened);
                if (!size.ok()) (void)attachment.acl.ipc_close(opened.key.data());
                return size;
            });
            if (!status.ok()) return status;
            mapping->address = import.address;
            mapping->bytes = handle->bytes;
            mapping->device = ordinal;
            mapping->kind = handle->kind;
            mapping->opaque[Generation] = attachment.generation;
            mapping->opaque[Address] = import.address;
            return {};
        });
    });
}

void release_mapping(peercoll_mapping_t* mapping) {
    const peercoll_mapping_t gone = *mapping;
    *mapping = {};
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (gone.kind == 0 || gone.opaque[Generation] != attachment.generation) return {};
        return on_device(attachment, gone.device, [&](Device&) {
            attachment.imports.release(gone.opaque[Address],
                                       [&](const Key& key) { (void)attachment.acl.ipc_close(key.data()); });
            return Status();
        });
    });
}

}  // namespace peercoll::ascend
