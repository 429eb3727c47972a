// SPDX-License-Identifier: BSD-3-Clause
// Two questions for memory of a device (what it is, which allocation), one for other memory. Where the allocation
// begins and how it can be shared is remembered.
#include "plugin/device/hip/pointers.hpp"

#include "plugin/device/hip/allocation_id.hpp"
#include "plugin/device/hip/current_device.hpp"

#include <array>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

bool find_attributes(const HipFunctions& hip, std::uint64_t address, HipPointerAttributes& attributes) {
    attributes = {};
    // Host memory that HIP does not know is an error before ROCm 6, and NULL as well.
    return address != 0 &&
           hip.pointer_get_attributes(&attributes, reinterpret_cast<const void*>(address)) == code::success;
}

bool find_range(const HipFunctions& hip, std::uint64_t address, std::uint64_t& base, std::uint64_t& bytes) {
    void* begin = nullptr;
    std::size_t size = 0;
    if (hip.memory_get_address_range(&begin, &size, reinterpret_cast<void*>(address)) != code::success) return false;
    base = reinterpret_cast<std::uint64_t>(begin);
    bytes = size;
    return true;
}

// An allocation as it was found, by HIP's number for it. One for each thread: no lock, and it goes away with the thread
// without a destructor.
struct KnownAllocation {
    std::uint64_t generation;
    std::uint32_t buffer;
    std::uint32_t handle_kinds;
    std::uint64_t base;
    std::uint64_t bytes;
    std::uint64_t id;
};
constexpr std::size_t known_allocations = 64;
thread_local std::array<KnownAllocation, known_allocations> known{};

// HIP does not tell which memory can be named to others: that of hipMalloc can, that of pools cannot, and naming it is
// how to find out. What was imported belongs to another process.
std::uint32_t handle_kinds(const Attachment& attachment, const peercoll_pointer_info_t& info) {
    OpenHandles::Import import;
    if (info.kind != PEERCOLL_MEMORY_DEVICE || info.allocation_id == 0 || attachment.imports.find(info.base, import))
        return 0;
    return 1U << PEERCOLL_HANDLE_IPC;
}

void look_up(const Attachment& attachment, std::uint64_t address, peercoll_pointer_info_t& info) {
    const std::uint32_t buffer = buffer_id(attachment.hip, address);
    KnownAllocation& slot = known[buffer % known_allocations];
    const bool hit = buffer != 0 && slot.generation == attachment.generation && slot.buffer == buffer &&
                     address >= slot.base && address - slot.base < slot.bytes;
    if (!hit) {
        std::uint64_t base = 0;
        std::uint64_t bytes = 0;
        if (!find_range(attachment.hip, address, base, bytes)) return;
        info.base = base;
        info.bytes = bytes;
        info.allocation_id = allocation_id(buffer, base, bytes);
        info.handle_kinds = handle_kinds(attachment, info);
        if (buffer != 0) slot = {attachment.generation, buffer, info.handle_kinds, base, bytes, info.allocation_id};
        return;
    }
    info.base = slot.base;
    info.bytes = slot.bytes;
    info.allocation_id = slot.id;
    info.handle_kinds = slot.handle_kinds;
}

}  // namespace

void classify(const void* address, peercoll_pointer_info_t* info) {
    *info = {};
    info->device = -1;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        const auto at = reinterpret_cast<std::uint64_t>(address);
        HipPointerAttributes attributes{};
        if (!find_attributes(attachment.hip, at, attributes)) return {};
        info->kind = memory_kind(attachment.version, attributes);
        if (info->kind == PEERCOLL_MEMORY_HOST || info->kind == PEERCOLL_MEMORY_PINNED) return {};
        Device* const device = attachment.device(attributes.device);
        if (device == nullptr) return {};  // of a device that this process cannot name
        device->memory_seen.store(true, std::memory_order_relaxed);
        info->device = device->ordinal;
        look_up(attachment, at, *info);
        return {};
    });
}

int is_live(uint64_t base, uint64_t id) {
    int live = 0;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (id == 0 || buffer_id(attachment.hip, base) != id >> 32) return {};
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        if (find_range(attachment.hip, base, begin, bytes) && begin == base &&
            allocation_id(static_cast<std::uint32_t>(id >> 32), base, bytes) == id)
            live = 1;
        return {};
    });
    return live;
}

int32_t device_of(const Attachment& attachment, std::uint64_t address) {
    OpenHandles::Import import;
    if (attachment.imports.find(address, import)) return import.owner_device;
    HipPointerAttributes attributes{};
    if (!find_attributes(attachment.hip, address, attributes)) return -1;
    const bool device = memory_kind(attachment.version, attributes) == PEERCOLL_MEMORY_DEVICE;
    return device && attachment.device(attributes.device) != nullptr ? attributes.device : -1;
}

namespace {

class ScopedEvent {
public:
    explicit ScopedEvent(const HipFunctions& hip) : hip_(hip) {
        result_ = hip.event_create(&event_, event_disable_timing);
    }
    ~ScopedEvent() {
        if (result_ == code::success) (void)hip_.event_destroy(event_);
    }
    ScopedEvent(const ScopedEvent&) = delete;
    ScopedEvent& operator=(const ScopedEvent&) = delete;
    HipError result() const { return result_; }
    HipEvent get() const { return event_; }

private:
    const HipFunctions& hip_;
    HipEvent event_ = nullptr;
    HipError result_;
};

// Waits for what the application has started with streams that wait for one another, which are those of "synchronous"
// calls; not for our own streams, on which a kernel may wait for another process.
HipError wait_for_synchronous_calls(const HipFunctions& hip) {
    const ScopedEvent event(hip);
    if (event.result() != code::success) return event.result();
    if (const HipError error = hip.event_record(event.get(), nullptr); error != code::success) return error;
    return hip.event_synchronize(event.get());
}

// SYNC_MEMOPS makes later "synchronous" calls on the allocation really so; releases since 5.5 have it.
bool make_synchronous(const HipFunctions& hip, std::uint64_t base) {
    const std::uint64_t on = 1;
    return hip.pointer_set_attribute != nullptr &&
           hip.pointer_set_attribute(&on, pointer_attribute::sync_memops, reinterpret_cast<void*>(base)) ==
               code::success;
}

}  // namespace

peercoll_status_t settle(const peercoll_pointer_info_t* info, int* lasting, peercoll_reason_t* reason) {
    *lasting = 0;
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (info->kind == PEERCOLL_MEMORY_HOST || info->kind == PEERCOLL_MEMORY_PINNED) {
            *lasting = 1;  // what processors write is there at once
            return {};
        }
        return on_device(attachment, info->device, [&](Device& device) -> Status {
            const bool from_now_on = make_synchronous(attachment.hip, info->base);
            const HipError error = wait_for_synchronous_calls(attachment.hip);
            if (error != code::success)
                return hip_error(attachment.hip, error,
                                 fmt::format("waiting until memory at {:#x} of HIP device {} is complete", info->base,
                                             device.ordinal));
            *lasting = from_now_on ? 1 : 0;
            return {};
        });
    });
}

}  // namespace peercoll::hip
