// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/memory.hpp"

#include "plugin/device/hip/current_device.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

// HIP gives NULL for 0 bytes, and calls it a success.
Status no_bytes() {
    return {PEERCOLL_ERR_INVALID_ARGUMENT, "an allocation of 0 bytes: expected at least 1"};
}

// Whether the application has registered it, or allocated it as host memory of HIP: registering it again is an error in
// some releases and a second registration in others.
bool is_known(const Attachment& attachment, const void* address) {
    HipPointerAttributes attributes{};
    return attachment.hip.pointer_get_attributes(&attributes, address) == code::success &&
           memory_kind(attachment.version, attributes) == PEERCOLL_MEMORY_PINNED;
}

}  // namespace

peercoll_status_t allocate(int32_t device, size_t bytes, uint64_t* address, peercoll_reason_t* reason) {
    *address = 0;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            if (bytes == 0) return no_bytes();
            void* made = nullptr;
            if (const HipError error = attachment.hip.memory_allocate(&made, bytes); error != code::success)
                return hip_error(attachment.hip, error,
                                 fmt::format("allocating {} bytes on HIP device {}", bytes, device));
            *address = reinterpret_cast<uint64_t>(made);
            return {};
        });
    });
}

void free_memory(int32_t device, uint64_t address) {
    if (address == 0) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) {
            (void)attachment.hip.memory_free(reinterpret_cast<void*>(address));
            return Status();
        });
    });
}

peercoll_status_t allocate_host(int32_t device, size_t bytes, void** address, peercoll_reason_t* reason) {
    *address = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            if (bytes == 0) return no_bytes();
            const HipError error = attachment.hip.host_allocate(address, bytes, host_portable | host_mapped);
            if (error == code::success) return {};
            *address = nullptr;
            return hip_error(attachment.hip, error,
                             fmt::format("allocating {} bytes of host memory for HIP device {}", bytes, device));
        });
    });
}

void free_host(int32_t device, void* address) {
    if (address == nullptr) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) {
            (void)attachment.hip.host_free(address);
            return Status();
        });
    });
}

peercoll_status_t register_host(int32_t device, void* address, size_t bytes, uint64_t* device_address,
                                peercoll_reason_t* reason) {
    *device_address = 0;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            const std::lock_guard lock(attachment.mutex);
            const HipFunctions& hip = attachment.hip;
            const auto what = [&] {
                return fmt::format("registering {} bytes of host memory with HIP device {}", bytes, device);
            };
            const auto registered = attachment.registered.find(address);
            const bool again = registered != attachment.registered.end();
            // Portable: one registration is good for all devices. The application's is good as well, and the
            // application's to undo.
            HipError error = again || (address != nullptr && is_known(attachment, address))
                                 ? code::host_memory_already_registered
                                 : hip.host_register(address, bytes, host_portable | host_mapped);
            const bool ours = error == code::success;
            if (!ours && error != code::host_memory_already_registered) return hip_error(hip, error, what());
            void* reached = nullptr;
            error = hip.host_get_device_address(&reached, address, 0);
            if (error != code::success) {
                if (ours) (void)hip.host_unregister(address);
                return hip_error(hip, error, what(), "expected it to be mapped for devices");
            }
            RegisteredHost& entry = again ? registered->second : attachment.registered[address];
            if (!again) entry.ours = ours;
            ++entry.count;
            *device_address = reinterpret_cast<uint64_t>(reached);
            return {};
        });
    });
}

void unregister_host(int32_t device, void* address) {
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            const std::lock_guard lock(attachment.mutex);
            const auto registered = attachment.registered.find(address);
            if (registered == attachment.registered.end() || --registered->second.count > 0) return {};
            if (registered->second.ours) (void)attachment.hip.host_unregister(address);
            attachment.registered.erase(registered);
            return {};
        });
    });
}

}  // namespace peercoll::hip
