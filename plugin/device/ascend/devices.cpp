// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/devices.hpp"

#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/pci_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

template <std::size_t size>
void fill(char (&text)[size], std::string_view from) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
}

std::string soc_name(const AclFunctions& acl) {
    const char* const name = acl.get_soc_name();
    return name == nullptr ? "Ascend" : name;
}

// Processes may see different devices under the same number (ASCEND_RT_VISIBLE_DEVICES, containers), and the host's
// number is the same for all. -1: not known.
std::int32_t physical_number(const AclFunctions& acl, std::int32_t user) {
    std::int32_t logical = -1;
    std::int32_t physical = -1;
    if (acl.logical_of_user != nullptr && acl.physical_of_logical != nullptr &&
        acl.logical_of_user(user, &logical) == code::success &&
        acl.physical_of_logical(logical, &physical) == code::success)
        return physical;
    return std::getenv("ASCEND_RT_VISIBLE_DEVICES") == nullptr ? user : -1;
}

bool find_uuid(const AclFunctions& acl, std::int32_t ordinal, std::uint8_t (&uuid)[16]) {
    AclUuid found{};
    if (acl.device_get_uuid == nullptr || acl.device_get_uuid(ordinal, &found) != code::success) return false;
    std::memcpy(uuid, found.bytes, sizeof uuid);
    return std::any_of(std::begin(uuid), std::end(uuid), [](std::uint8_t byte) { return byte != 0; });
}

Status describe(Attachment& attachment, Device& device, std::size_t count) {
    const AclFunctions& acl = attachment.acl;
    const std::string soc = soc_name(acl);
    // The one product of these that has neither.
    device.shares = !soc.starts_with("Ascend310B");
    fill(device.info.name, soc);
    std::string architecture = soc;
    std::transform(architecture.begin(), architecture.end(), architecture.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    });
    fill(device.info.architecture, architecture);
    const std::int32_t physical = physical_number(acl, device.ordinal);
    if (!find_uuid(acl, device.ordinal, device.info.uuid)) {
        if (physical < 0)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("Ascend device {} has no UUID and its number on the host is not known, so no process "
                                "can name it to another: expected ASCEND_RT_VISIBLE_DEVICES not to be set",
                                device.ordinal)};
        const std::array<std::uint8_t, 16> made = make_uuid(soc, physical);
        std::memcpy(device.info.uuid, made.data(), made.size());
    }
    fill(device.info.pci_id, find_pci_id(acl, device.ordinal, count));
    std::int64_t bytes = 0;
    if (acl.get_device_info != nullptr &&
        acl.get_device_info(static_cast<std::uint32_t>(device.ordinal), attribute_total_memory, &bytes) ==
            code::success &&
        bytes > 0)
        device.info.memory_bytes = static_cast<std::uint64_t>(bytes);
    device.info.import_kinds = acl.has_ipc() && device.shares ? 1U << PEERCOLL_HANDLE_IPC : 0;
    return {};
}

Status cannot_count(const AclFunctions& acl, AclError error) {
    std::string_view advice;
    if (error == code::compiling_stub_mode)
        advice = "which is for linking only: expected lib64 before devlib in LD_LIBRARY_PATH";
    if (error == code::rt_no_device || error == code::rt_invalid_device || error == code::rt_driver_internal)
        advice = "this process sees no Ascend device (none there, no access, or ASCEND_RT_VISIBLE_DEVICES)";
    return {PEERCOLL_ERR_NOT_SUPPORTED, acl_error(acl, error, "counting the Ascend devices", advice).sentence()};
}

}  // namespace

std::array<std::uint8_t, 16> make_uuid(std::string_view soc, std::int32_t physical) {
    std::uint64_t mixed = 0xcbf29ce484222325;  // FNV-1a
    for (const char letter : soc) mixed = (mixed ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    const std::uint64_t halves[] = {mixed, static_cast<std::uint64_t>(physical)};
    std::array<std::uint8_t, 16> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::uint8_t>(halves[i / 8] >> (56 - 8 * (i % 8)));
    return made;
}

const Device* with_uuid(const Attachment& attachment, const std::uint8_t (&uuid)[16]) {
    for (const auto& device : attachment.devices)
        if (std::memcmp(device->info.uuid, uuid, sizeof uuid) == 0) return device.get();
    return nullptr;
}

Status find_devices(Attachment& attachment) {
    const AclFunctions& acl = attachment.acl;
    std::uint32_t count = 0;
    AclError error = acl.get_device_count(&count);
    if (error == code::uninitialized) {
        const std::lock_guard lock(attachment.starting);
        if (Status status = hold_reference(attachment); !status.ok()) return status;
        error = acl.get_device_count(&count);
    }
    if (error != code::success) return cannot_count(acl, error);
    if (count == 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this process sees no Ascend device (ASCEND_RT_VISIBLE_DEVICES?)"};
    for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
        auto device = std::make_unique<Device>();
        device->ordinal = static_cast<std::int32_t>(ordinal);
        if (Status status = describe(attachment, *device, count); !status.ok()) return status;
        if (const Device* const twin = with_uuid(attachment, device->info.uuid); twin != nullptr)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("Ascend devices {} and {} have the same UUID, so no process can name one of them to "
                                "another",
                                twin->ordinal, ordinal)};
        attachment.devices.push_back(std::move(device));
    }
    return {};
}

bool is_active(const Attachment& attachment, const Device& device) {
    if (device.context.load() != nullptr || device.memory_seen.load(std::memory_order_relaxed)) return true;
    const AclFunctions& acl = attachment.acl;
    std::uint32_t flags = 0;
    std::int32_t active = 0;
    if (acl.get_primary_state != nullptr && acl.get_primary_state(device.ordinal, &flags, &active) == code::success)
        return active != 0;
    std::int32_t current = -1;
    return acl.get_device(&current) == code::success && current == device.ordinal;
}

int32_t device_count() {
    const Attachment* const present = attachment();
    return present == nullptr ? 0 : static_cast<int32_t>(present->devices.size());
}

peercoll_status_t device_info(int32_t ordinal, peercoll_device_info_t* info, peercoll_reason_t* reason) {
    return attached(reason, [&](Attachment& attachment) -> Status {
        const Device* const device = attachment.device(ordinal);
        if (device == nullptr) return no_device(attachment, ordinal);
        *info = device->info;
        fill(info->reductions, attachment.acl.reduce_async == nullptr
                                   ? "host: this ACL has no aclrtReduceAsync"
                                   : "device where aclrtReduceAsync gives the host's bits, else host");
        return quietly(attachment.acl, [&] {
            info->active = is_active(attachment, *device) ? 1 : 0;
            return Status();
        });
    });
}

const char* version_text() {
    const Attachment* const present = attachment();
    return present == nullptr ? "" : present->version_text.c_str();
}

}  // namespace peercoll::ascend
