// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/devices.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

template <std::size_t size>
void fill(char (&text)[size], const std::string& from) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
}

// 0 for what the driver does not know: then the device does not have it.
int attribute(const DriverFunctions& driver, CuDevice device, int which) {
    int value = 0;
    return driver.device_get_attribute(&value, which, device) == code::success ? value : 0;
}

uint32_t import_kinds(const DriverFunctions& driver, CuDevice device) {
    const auto has = [&](int which) { return attribute(driver, device, which) != 0; };
    uint32_t kinds = 0;
    if (has(device_attribute::unified_addressing)) kinds |= 1U << PEERCOLL_HANDLE_IPC;
    const bool maps = driver.has_virtual_memory() && has(device_attribute::virtual_memory_management);
    if (maps && has(device_attribute::posix_fd_handles)) kinds |= 1U << PEERCOLL_HANDLE_FD;
    if (maps && has(device_attribute::fabric_handles)) kinds |= 1U << PEERCOLL_HANDLE_FABRIC;
    const int pool_types = attribute(driver, device, device_attribute::mempool_handle_types);
    if (driver.has_pools() && has(device_attribute::memory_pools) && (pool_types & handle_type_posix_fd) != 0)
        kinds |= 1U << PEERCOLL_HANDLE_POOL_FD;
    return kinds;
}

Status describe(const DriverFunctions& driver, Device& device) {
    const auto asked = [&](CuResult error, const char* what) {
        return error == code::success
                   ? Status()
                   : driver_error(driver, error,
                                  fmt::format("asking for the {} of CUDA device {}", what, device.ordinal));
    };
    if (Status status = asked(driver.device_get(&device.handle, device.ordinal), "handle"); !status.ok()) return status;
    CuUuid uuid{};
    if (Status status = asked(driver.device_get_uuid(&uuid, device.handle), "UUID"); !status.ok()) return status;
    std::memcpy(device.info.uuid, uuid.bytes, sizeof device.info.uuid);
    char text[64] = "";
    if (driver.device_get_pci_id(text, sizeof text, device.handle) == code::success) {
        std::string id(text);
        std::transform(id.begin(), id.end(), id.begin(),
                       [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
        fill(device.info.pci_id, id);
    }
    char name[sizeof device.info.name] = "";
    if (Status status = asked(driver.device_get_name(name, sizeof name, device.handle), "name"); !status.ok())
        return status;
    fill(device.info.name, name);
    std::size_t bytes = 0;
    if (Status status = asked(driver.device_total_memory(&bytes, device.handle), "memory"); !status.ok()) return status;
    device.info.memory_bytes = bytes;
    device.major = attribute(driver, device.handle, device_attribute::compute_capability_major);
    device.minor = attribute(driver, device.handle, device_attribute::compute_capability_minor);
    fill(device.info.architecture, fmt::format("sm_{}{}", device.major, device.minor));
    device.multiprocessors = std::max(1, attribute(driver, device.handle, device_attribute::multiprocessor_count));
    device.writes_flags = driver.stream_write_value_64 != nullptr &&
                          attribute(driver, device.handle, device_attribute::stream_write_value_64) != 0;
    device.info.import_kinds = import_kinds(driver, device.handle);
    return {};
}

}  // namespace

Status find_devices(Attachment& attachment) {
    int count = 0;
    if (const CuResult error = attachment.driver.device_get_count(&count); error != code::success)
        return driver_error(attachment.driver, error, "counting the CUDA devices");
    if (count <= 0) return {PEERCOLL_ERR_NOT_SUPPORTED, "this process sees no CUDA device"};
    for (int32_t ordinal = 0; ordinal < count; ++ordinal) {
        auto device = std::make_unique<Device>();
        device->ordinal = ordinal;
        if (Status status = describe(attachment.driver, *device); !status.ok()) return status;
        attachment.devices.push_back(std::move(device));
    }
    return {};
}

int32_t device_count() {
    const Attachment* const present = attachment();
    return present == nullptr ? 0 : static_cast<int32_t>(present->devices.size());
}

peercoll_status_t device_info(int32_t ordinal, peercoll_device_info_t* info, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        Device* const device = attachment.device(ordinal);
        if (device == nullptr) return no_device(attachment, ordinal);
        *info = device->info;
        info->active = device->context.load() != nullptr || is_active(attachment, *device) ? 1 : 0;
        std::string reductions = "not known before this process uses the device";
        if (info->active != 0) {
            const Status loaded = on_device(attachment, ordinal, [&](Device& current) {
                reductions = current.kernels.describe(attachment, current);
                return Status();
            });
            if (!loaded.ok()) reductions = "host: " + loaded.sentence();
        }
        fill(info->reductions, reductions);
        return {};
    });
}

const char* version_text() {
    const Attachment* const present = attachment();
    return present == nullptr ? "" : present->version_text.c_str();
}

}  // namespace peercoll::cuda
