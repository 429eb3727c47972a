// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/memory.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

peercoll_status_t allocate(int32_t device, size_t bytes, uint64_t* address, peercoll_reason_t* reason) {
    *address = 0;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            CuAddress made = 0;
            if (const CuResult error = attachment.driver.memory_allocate(&made, bytes); error != code::success)
                return driver_error(attachment.driver, error,
                                    fmt::format("allocating {} bytes on CUDA device {}", bytes, device));
            *address = made;
            return {};
        });
    });
}

void free_memory(int32_t device, uint64_t address) {
    if (address == 0) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) {
            attachment.driver.memory_free(address);
            return Status();
        });
    });
}

peercoll_status_t allocate_host(int32_t device, size_t bytes, void** address, peercoll_reason_t* reason) {
    *address = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) -> Status {
            const CuResult error = attachment.driver.host_allocate(address, bytes, host_portable | host_mapped);
            if (error == code::success) return {};
            *address = nullptr;
            return driver_error(attachment.driver, error,
                                fmt::format("allocating {} bytes of host memory for CUDA device {}", bytes, device));
        });
    });
}

void free_host(int32_t device, void* address) {
    if (address == nullptr) return;
    attached(nullptr, [&](Attachment& attachment) {
        return on_device(attachment, device, [&](Device&) {
            attachment.driver.host_free(address);
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
            const DriverFunctions& driver = attachment.driver;
            const auto what = [&] {
                return fmt::format("registering {} bytes of host memory with CUDA device {}", bytes, device);
            };
            const auto registered = attachment.registered.find(address);
            const bool again = registered != attachment.registered.end();
            // Portable: one registration is good for all devices. Registered by the application (712): good as well,
            // and the application's to undo.
            CuResult error = again ? code::host_memory_already_registered
                                   : driver.host_register(address, bytes, host_portable | host_mapped);
            const bool ours = error == code::success;
            if (!ours && error != code::host_memory_already_registered) return driver_error(driver, error, what());
            CuAddress reached = 0;
            error = driver.host_get_device_address(&reached, address, 0);
            if (error != code::success) {
                if (ours) driver.host_unregister(address);
                return driver_error(driver, error, what(), "expected it to be mapped for devices");
            }
            RegisteredHost& entry = again ? registered->second : attachment.registered[address];
            if (!again) entry.ours = ours;
            ++entry.count;
            *device_address = reached;
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
            if (registered->second.ours) attachment.driver.host_unregister(address);
            attachment.registered.erase(registered);
            return {};
        });
    });
}

}  // namespace peercoll::cuda
