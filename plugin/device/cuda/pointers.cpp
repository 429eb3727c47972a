// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/pointers.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <array>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

// Asked for in one call: 0.15 us for a host pointer, where each single query would cost 0.57. The last one is of CUDA
// 11.3; a driver that refuses it has no pools either.
enum Asked { MemoryType, IsManaged, DeviceOrdinal, BufferId, LegacyIpc, HandleTypes, IsMapped, Pool, AskedEnd };
constexpr std::array<int, AskedEnd> attributes = {pointer_attribute::memory_type,
                                                  pointer_attribute::is_managed,
                                                  pointer_attribute::device_ordinal,
                                                  pointer_attribute::buffer_id,
                                                  pointer_attribute::is_legacy_ipc_capable,
                                                  pointer_attribute::allowed_handle_types,
                                                  pointer_attribute::mapped,
                                                  pointer_attribute::mempool_handle};

// Whatever width the driver writes: 8 bytes each, zero before.
struct PointerFacts {
    std::array<uint64_t, AskedEnd> values{};
    uint64_t operator[](Asked which) const { return values[which]; }
};

CuResult query(const DriverFunctions& driver, unsigned count, CuAddress address, PointerFacts& facts) {
    std::array<int, AskedEnd> wanted = attributes;
    std::array<void*, AskedEnd> places{};
    for (std::size_t i = 0; i < AskedEnd; ++i) places[i] = &facts.values[i];
    return driver.pointer_get_attributes(count, wanted.data(), places.data(), address);
}

// An allocation as it was found, by its id, which is never used again. One for each thread: no lock, and it goes away
// with the thread without a destructor. Mapped physical memory is not kept: its id says nothing of how it is mapped.
struct KnownAllocation {
    uint64_t generation;
    uint64_t id;
    uint64_t base;
    uint64_t bytes;
    uint32_t handle_kinds;
};
constexpr std::size_t known_allocations = 64;
thread_local std::array<KnownAllocation, known_allocations> known{};

class RetainedAllocation {
public:
    RetainedAllocation(const DriverFunctions& driver, CuAddress address) : driver_(driver) {
        there_ = driver.allocation_retain(&allocation_, reinterpret_cast<void*>(address)) == code::success;
    }
    ~RetainedAllocation() {
        if (there_) driver_.allocation_release(allocation_);
    }
    RetainedAllocation(const RetainedAllocation&) = delete;
    RetainedAllocation& operator=(const RetainedAllocation&) = delete;
    bool is(const RetainedAllocation& other) const {
        return there_ && other.there_ && allocation_ == other.allocation_;
    }

private:
    const DriverFunctions& driver_;
    CuAllocation allocation_ = 0;
    bool there_ = false;
};

// A handle names one physical allocation: a range that begins in one and ends in another has none.
bool is_one_allocation(const DriverFunctions& driver, uint64_t base, uint64_t bytes) {
    const RetainedAllocation first(driver, base);
    const RetainedAllocation last(driver, base + bytes - 1);
    return first.is(last);
}

uint32_t handle_kinds(const Attachment& attachment, const Device& device, const PointerFacts& facts,
                      const peercoll_pointer_info_t& info) {
    uint32_t kinds = 0;
    if (facts[LegacyIpc] != 0) kinds |= 1U << PEERCOLL_HANDLE_IPC;
    const uint64_t types = facts[HandleTypes];
    if (facts[Pool] != 0) {
        if ((types & handle_type_posix_fd) != 0) kinds |= 1U << PEERCOLL_HANDLE_POOL_FD;
    } else if (types != 0 && attachment.driver.has_virtual_memory() &&
               is_one_allocation(attachment.driver, info.base, info.bytes)) {
        if ((types & handle_type_posix_fd) != 0) kinds |= 1U << PEERCOLL_HANDLE_FD;
        if ((types & handle_type_fabric) != 0) kinds |= 1U << PEERCOLL_HANDLE_FABRIC;
    }
    return kinds & device.info.import_kinds;
}

void find_range(const Attachment& attachment, CuAddress address, peercoll_pointer_info_t& info) {
    CuAddress base = 0;
    std::size_t bytes = 0;
    if (attachment.driver.memory_get_address_range(&base, &bytes, address) != code::success) return;
    info.base = base;
    info.bytes = bytes;
}

void look_up_device_memory(Attachment& attachment, Device& device, CuAddress address, const PointerFacts& facts,
                           peercoll_pointer_info_t& info) {
    device.memory_seen.store(true, std::memory_order_relaxed);
    info.kind = facts[IsManaged] != 0 ? PEERCOLL_MEMORY_MANAGED : PEERCOLL_MEMORY_DEVICE;
    info.device = device.ordinal;
    info.allocation_id = facts[BufferId];
    KnownAllocation& slot = known[info.allocation_id % known_allocations];
    if (slot.generation == attachment.generation && slot.id == info.allocation_id && address >= slot.base &&
        address - slot.base < slot.bytes) {
        info.base = slot.base;
        info.bytes = slot.bytes;
        info.handle_kinds = slot.handle_kinds;
        return;
    }
    (void)on_device(attachment, device.ordinal, [&](Device& current) {
        find_range(attachment, address, info);
        if (info.bytes != 0 && info.kind == PEERCOLL_MEMORY_DEVICE && facts[IsMapped] != 0)
            info.handle_kinds = handle_kinds(attachment, current, facts, info);
        return Status();
    });
    const bool by_id = facts[LegacyIpc] != 0 || facts[Pool] != 0;
    if (by_id && info.allocation_id != 0 && info.bytes != 0)
        slot = {attachment.generation, info.allocation_id, info.base, info.bytes, info.handle_kinds};
}

}  // namespace

unsigned known_pointer_attributes(const DriverFunctions& driver) {
    for (const unsigned count : {unsigned{AskedEnd}, unsigned{AskedEnd} - 1}) {
        PointerFacts facts;
        const int on_the_stack = 0;
        if (query(driver, count, reinterpret_cast<CuAddress>(&on_the_stack), facts) == code::success) return count;
    }
    return 0;
}

void classify(const void* address, peercoll_pointer_info_t* info) {
    *info = {};
    info->device = -1;
    quietly([&] {
        Attachment* const present = attachment();
        if (present == nullptr) return;
        const auto at = reinterpret_cast<CuAddress>(address);
        PointerFacts facts;
        if (query(present->driver, present->pointer_attributes, at, facts) != code::success) return;
        if (facts[MemoryType] == 0) return;
        Device* const device = present->device(static_cast<int32_t>(facts[DeviceOrdinal]));
        const bool on_device = facts[MemoryType] == memory_type_device || facts[IsManaged] != 0;
        if (on_device && device != nullptr) {
            look_up_device_memory(*present, *device, at, facts, *info);
        } else if (facts[MemoryType] == memory_type_host) {
            info->kind = PEERCOLL_MEMORY_PINNED;
            info->allocation_id = facts[BufferId];
        } else {  // of a device that this process cannot name: nobody here can reach it but the runtime itself
            info->kind = facts[IsManaged] != 0 ? PEERCOLL_MEMORY_MANAGED : PEERCOLL_MEMORY_DEVICE;
            info->allocation_id = facts[BufferId];
        }
    });
}

int is_live(uint64_t base, uint64_t allocation_id) {
    const Attachment* const present = attachment();
    if (present == nullptr || allocation_id == 0) return 0;
    uint64_t id = 0;
    return present->driver.pointer_get_attribute(&id, pointer_attribute::buffer_id, base) == code::success &&
                   id == allocation_id
               ? 1
               : 0;
}

namespace {

class ScopedEvent {
public:
    explicit ScopedEvent(const DriverFunctions& driver) : driver_(driver) {
        result_ = driver.event_create(&event_, event_disable_timing);
    }
    ~ScopedEvent() {
        if (result_ == code::success) driver_.event_destroy(event_);
    }
    ScopedEvent(const ScopedEvent&) = delete;
    ScopedEvent& operator=(const ScopedEvent&) = delete;
    CuResult result() const { return result_; }
    CuEvent get() const { return event_; }

private:
    const DriverFunctions& driver_;
    CuEvent event_ = nullptr;
    CuResult result_;
};

// Waits for what the application has started with streams that wait for one another, which are those of "synchronous"
// calls; not for our own streams, on which a kernel may wait for another process.
CuResult wait_for_synchronous_calls(const DriverFunctions& driver) {
    const ScopedEvent event(driver);
    if (event.result() != code::success) return event.result();
    if (const CuResult error = driver.event_record(event.get(), reinterpret_cast<CuStream>(legacy_stream));
        error != code::success)
        return error;
    return driver.event_synchronize(event.get());
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
            const unsigned on = 1;
            // Mapped physical memory refuses it (801). Pools take it and later copies still return early (seen on an
            // H200, driver 580), so it counts for what cuMemAlloc gives, which is what legacy handles are for.
            const bool may_last = (info->handle_kinds >> PEERCOLL_HANDLE_IPC & 1) != 0;
            CuResult error = code::not_supported;
            if (may_last)
                error = attachment.driver.pointer_set_attribute(&on, pointer_attribute::sync_memops, info->base);
            if (error == code::success) *lasting = 1;
            // Earlier calls may still run; where it does not last, later ones as well, so that this is all.
            if (error == code::success || error == code::not_supported)
                error = wait_for_synchronous_calls(attachment.driver);
            if (error == code::success) return {};
            *lasting = 0;
            return driver_error(
                attachment.driver, error,
                fmt::format("waiting until memory at {:#x} of CUDA device {} is complete", info->base, device.ordinal));
        });
    });
}

}  // namespace peercoll::cuda
