// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/pointers.hpp"

#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/devices.hpp"
#include "plugin/device/ascend/exports.hpp"
#include "plugin/device/ascend/readable.hpp"

#include <iterator>

namespace peercoll::ascend {

namespace {

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

// What ACL says of an address, whether or not this thread has a context.
AclError ask(Attachment& attachment, std::uint64_t address, AclPointerAttributes& attributes) {
    const AclFunctions& acl = attachment.acl;
    attributes = {};
    attributes.location.type = location::unregistered;
    AclError error = code::success;
    const auto once = [&] {
        error = acl.pointer_get_attributes(pointer(address), &attributes);
        return Status();
    };
    if (!quietly(acl, once).ok() || error != code::rt_context_null) return error;
    for (const auto& device : attachment.devices)
        if (is_active(attachment, *device)) {
            (void)on_device(attachment, device->ordinal, [&](Device&) { return once(); });
            break;
        }
    return error;
}

// The current device of this thread; -1: it has none.
std::int32_t current_device(const AclFunctions& acl) {
    std::int32_t device = -1;
    (void)quietly(acl, [&] {
        if (acl.get_device(&device) != code::success) device = -1;
        return Status();
    });
    return device;
}

// Memory that we neither allocated nor mapped: what kind it is, and on which device.
peercoll_memory_kind_t find_kind(Attachment& attachment, std::uint64_t address, std::int32_t& device) {
    device = -1;
    if (address == 0) return PEERCOLL_MEMORY_HOST;
    if (attachment.acl.pointer_get_attributes == nullptr) {
        if (!attachment.settings.unreadable_is_device || is_readable(pointer(address))) return PEERCOLL_MEMORY_HOST;
        device = current_device(attachment.acl);
        return attachment.device(device) == nullptr ? PEERCOLL_MEMORY_HOST : PEERCOLL_MEMORY_DEVICE;
    }
    AclPointerAttributes attributes{};
    if (ask(attachment, address, attributes) != code::success) return PEERCOLL_MEMORY_HOST;
    if (attributes.location.type == location::host) return PEERCOLL_MEMORY_PINNED;
    if (attributes.location.type != location::device && attributes.location.type != location::managed)
        return PEERCOLL_MEMORY_HOST;
    device = static_cast<std::int32_t>(attributes.location.id);
    if (attachment.device(device) == nullptr) return PEERCOLL_MEMORY_HOST;  // one that this process cannot name
    return attributes.location.type == location::device ? PEERCOLL_MEMORY_DEVICE : PEERCOLL_MEMORY_MANAGED;
}

bool is_pinned_by_us(Attachment& attachment, std::uint64_t address) {
    const std::lock_guard lock(attachment.mutex);
    const auto behind = attachment.pinned.upper_bound(pointer(address));
    if (behind == attachment.pinned.begin()) return false;
    const auto& [begin, bytes] = *std::prev(behind);
    return address - reinterpret_cast<std::uint64_t>(begin) < bytes;
}

bool find_range(Attachment& attachment, std::uint64_t address, std::int32_t device, std::uint64_t& base,
                std::uint64_t& bytes) {
    void* begin = nullptr;
    std::size_t size = 0;
    if (attachment.acl.memory_get_address_range == nullptr) return false;
    const Status status = on_device(attachment, device, [&](Device&) -> Status {
        const AclError error = attachment.acl.memory_get_address_range(pointer(address), &begin, &size);
        return error == code::success ? Status() : Status(status_of(error), {});
    });
    base = reinterpret_cast<std::uint64_t>(begin);
    bytes = size;
    return status.ok() && size != 0;
}

void describe(const Attachment& attachment, const Allocation& allocation, peercoll_pointer_info_t& info) {
    info.kind = PEERCOLL_MEMORY_DEVICE;
    info.device = allocation.device;
    info.allocation_id = allocation.id;
    info.base = allocation.base;
    info.bytes = allocation.bytes;
    const Device* const device = attachment.device(allocation.device);
    if (attachment.acl.has_ipc() && device != nullptr && device->shares) info.handle_kinds = 1U << PEERCOLL_HANDLE_IPC;
}

void classify_others(Attachment& attachment, std::uint64_t address, peercoll_pointer_info_t& info) {
    info.kind = find_kind(attachment, address, info.device);
    if (info.kind != PEERCOLL_MEMORY_DEVICE && info.kind != PEERCOLL_MEMORY_MANAGED) return;
    attachment.device(info.device)->memory_seen.store(true, std::memory_order_relaxed);
    if (info.kind != PEERCOLL_MEMORY_DEVICE || !attachment.settings.share_application_memory) return;
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    if (!find_range(attachment, address, info.device, base, bytes)) return;
    Allocation gone;
    describe(attachment, attachment.allocations.see(base, bytes, info.device, gone), info);
    if (gone.named)
        (void)on_device(attachment, gone.device, [&](Device&) {
            close_export(attachment, gone);
            return Status();
        });
}

}  // namespace

Place place_of(Attachment& attachment, std::uint64_t address) {
    OpenKeys::Import import;
    if (attachment.imports.find(address, import)) return {true, true, import.device};
    Allocation ours;
    if (attachment.allocations.find_ours(address, ours)) return {true, false, ours.device};
    if (is_pinned_by_us(attachment, address)) return {};
    Place place;
    const peercoll_memory_kind_t kind = find_kind(attachment, address, place.device);
    place.on_device = kind == PEERCOLL_MEMORY_DEVICE || kind == PEERCOLL_MEMORY_MANAGED;
    return place;
}

void classify(const void* address, peercoll_pointer_info_t* info) {
    *info = {};
    info->device = -1;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        const auto at = reinterpret_cast<std::uint64_t>(address);
        OpenKeys::Import import;
        Allocation ours;
        if (attachment.imports.find(at, import)) {  // another process's, not ours to pass on
            info->kind = PEERCOLL_MEMORY_DEVICE;
            info->device = import.device;
            info->base = import.address;
            info->bytes = import.bytes;
        } else if (attachment.allocations.find_ours(at, ours)) {
            describe(attachment, ours, *info);
        } else if (is_pinned_by_us(attachment, at)) {
            info->kind = PEERCOLL_MEMORY_PINNED;
        } else {
            classify_others(attachment, at, *info);
        }
        return {};
    });
}

int is_live(uint64_t base, uint64_t id) {
    int live = 0;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        Allocation known;
        if (!attachment.allocations.find(base, id, known)) return {};
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        live = known.ours ||
               (find_range(attachment, base, known.device, begin, bytes) && begin == base && bytes == known.bytes);
        return {};
    });
    return live;
}

// ACL's synchronous copies and fills have ended when they return, whatever the memory.
peercoll_status_t settle(const peercoll_pointer_info_t*, int* lasting, peercoll_reason_t*) {
    *lasting = 1;
    return PEERCOLL_SUCCESS;
}

}  // namespace peercoll::ascend
