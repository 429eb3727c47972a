// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/memory.hpp"

#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/exports.hpp"

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

Status no_bytes() {
    return {PEERCOLL_ERR_INVALID_ARGUMENT, "an allocation of 0 bytes: expected at least 1"};
}

}  // namespace

// Where devices need special pages to reach each other's memory, this policy gives them; elsewhere it does no harm.
peercoll_status_t allocate(int32_t ordinal, size_t bytes, uint64_t* address, peercoll_reason_t* reason) {
    *address = 0;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) -> Status {
            if (bytes == 0) return no_bytes();
            void* made = nullptr;
            const AclError error = attachment.acl.memory_allocate(&made, bytes, malloc_huge_first_p2p);
            if (error != code::success)
                return acl_error(attachment.acl, error,
                                 fmt::format("allocating {} bytes on Ascend device {}", bytes, ordinal));
            *address = reinterpret_cast<uint64_t>(made);
            attachment.allocations.add_ours(*address, bytes, ordinal);
            return {};
        });
    });
}

void free_memory(int32_t ordinal, uint64_t address) {
    if (address == 0) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) {
            Allocation gone;
            if (attachment.allocations.remove(address, gone)) close_export(attachment, gone);
            (void)attachment.acl.memory_free(reinterpret_cast<void*>(address));
            return Status();
        });
    });
}

peercoll_status_t allocate_host(int32_t ordinal, size_t bytes, void** address, peercoll_reason_t* reason) {
    *address = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) -> Status {
            if (bytes == 0) return no_bytes();
            void* made = nullptr;
            const AclError error = attachment.acl.host_allocate(&made, bytes);
            if (error != code::success)
                return acl_error(
                    attachment.acl, error,
                    fmt::format("allocating {} bytes of host memory for Ascend device {}", bytes, ordinal));
            const std::lock_guard lock(attachment.mutex);
            attachment.pinned[made] = bytes;
            *address = made;
            return {};
        });
    });
}

void free_host(int32_t ordinal, void* address) {
    if (address == nullptr) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) {
            const std::lock_guard lock(attachment.mutex);
            attachment.pinned.erase(address);
            (void)attachment.acl.host_free(address);
            return Status();
        });
    });
}

peercoll_status_t register_host(int32_t ordinal, void* address, size_t bytes, uint64_t* device_address,
                                peercoll_reason_t* reason) {
    *device_address = 0;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) -> Status {
            const AclFunctions& acl = attachment.acl;
            if (acl.host_register == nullptr || acl.host_unregister == nullptr)
                return {PEERCOLL_ERR_NOT_SUPPORTED, "this release of ACL does not register host memory"};
            const std::lock_guard lock(attachment.mutex);
            if (const auto known = attachment.registered.find(address); known != attachment.registered.end()) {
                ++known->second;
                return {};
            }
            void* unused = nullptr;
            const AclError error = acl.host_register(address, bytes, host_register_mapped, &unused);
            if (error != code::success)
                return acl_error(
                    acl, error,
                    fmt::format("registering {} bytes of host memory with Ascend device {}", bytes, ordinal));
            attachment.registered[address] = 1;
            return {};
        });
    });
}

void unregister_host(int32_t ordinal, void* address) {
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device&) -> Status {
            const std::lock_guard lock(attachment.mutex);
            const auto known = attachment.registered.find(address);
            if (known == attachment.registered.end() || --known->second > 0) return {};
            attachment.registered.erase(known);
            (void)attachment.acl.host_unregister(address);
            return {};
        });
    });
}

}  // namespace peercoll::ascend
