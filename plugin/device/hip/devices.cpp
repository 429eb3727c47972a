// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/devices.hpp"

#include "plugin/device/hip/current_device.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

template <std::size_t size>
void fill(char (&text)[size], const std::string& from) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
}

// 0 for what the runtime does not know: then the device does not have it.
int attribute(const HipFunctions& hip, int32_t device, int which) {
    int value = 0;
    return hip.device_get_attribute(&value, which, device) == code::success ? value : 0;
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

// "gfx90a:sramecc+:xnack-"; empty if it cannot be known.
std::string find_target(const HipFunctions& hip, int32_t device) {
    std::vector<char> properties(properties_bytes + 1, '\0');
    const bool is_new = hip.get_new_properties != nullptr;
    const auto get = is_new ? hip.get_new_properties : hip.get_old_properties;
    if (get == nullptr || get(properties.data(), device) != code::success) return {};
    const std::string name = properties.data() + (is_new ? new_architecture_offset : old_architecture_offset);
    return name.starts_with("gfx") ? name : std::string();
}

std::string find_uuid(const HipFunctions& hip, int32_t device) {
    HipUuid uuid{};
    if (hip.device_get_uuid == nullptr || hip.device_get_uuid(&uuid, device) != code::success) return {};
    return {uuid.bytes, sizeof uuid.bytes};
}

Status describe(const HipFunctions& hip, Device& device) {
    const int32_t ordinal = device.ordinal;
    const auto asked = [&](HipError error, const char* what) {
        return error == code::success
                   ? Status()
                   : hip_error(hip, error, fmt::format("asking for the {} of HIP device {}", what, ordinal));
    };
    char pci_id[64] = "";
    if (hip.device_get_pci_id(pci_id, sizeof pci_id, ordinal) == code::success)
        fill(device.info.pci_id, lower_case(pci_id));
    const auto uuid = make_uuid(find_uuid(hip, ordinal), device.info.pci_id);
    if (uuid == std::array<std::uint8_t, 16>{})
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("HIP device {} has neither a UUID nor a PCI id, so no process can name it to another",
                            ordinal)};
    std::copy(uuid.begin(), uuid.end(), device.info.uuid);
    char name[sizeof device.info.name] = "";
    if (Status status = asked(hip.device_get_name(name, sizeof name, ordinal), "name"); !status.ok()) return status;
    fill(device.info.name, name);
    std::size_t bytes = 0;
    if (Status status = asked(hip.device_total_memory(&bytes, ordinal), "memory"); !status.ok()) return status;
    device.info.memory_bytes = bytes;
    device.target = find_target(hip, ordinal);
    const std::string architecture = device.target.substr(0, device.target.find(':'));
    fill(device.info.architecture, architecture);
    device.multiprocessors = std::max(1, attribute(hip, ordinal, device_attribute::multiprocessor_count));
    device.kernels_release = kernels_can_release(architecture);
    device.writes_flags = hip.stream_write_value_64 != nullptr &&
                          attribute(hip, ordinal, device_attribute::can_use_stream_wait_value) != 0;
    device.info.import_kinds = 1U << PEERCOLL_HANDLE_IPC;
    return {};
}

// HIP has no contexts to ask for. Memory of the device that we were handed is proof; so is that the thread chose it,
// which of device 0 cannot be told from not having chosen yet.
bool in_use(const Attachment& attachment, const Device& device) {
    if (device.memory_seen.load(std::memory_order_relaxed)) return true;
    int current = -1;
    if (attachment.hip.get_device(&current) != code::success || current != device.ordinal) return false;
    return current != 0 || attachment.devices.size() == 1;
}

// The bytes of a text of 16 hexadecimal digits, else a mixture of whatever it is (FNV-1a).
std::uint64_t number_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    value = 0xcbf29ce484222325;
    for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return value;
}

}  // namespace

std::array<std::uint8_t, 16> make_uuid(std::string_view hip_uuid, std::string_view pci_id) {
    hip_uuid = hip_uuid.substr(0, hip_uuid.find('\0'));
    const bool unknown = hip_uuid.empty() || hip_uuid.find_first_not_of('X') == std::string_view::npos ||
                         hip_uuid.find_first_not_of('0') == std::string_view::npos;
    const std::uint64_t halves[] = {unknown ? 0 : number_of(hip_uuid), pci_id.empty() ? 0 : number_of(pci_id)};
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
    int count = 0;
    if (const HipError error = attachment.hip.get_device_count(&count); error != code::success)
        return hip_error(attachment.hip, error, "counting the HIP devices");
    if (count <= 0) return {PEERCOLL_ERR_NOT_SUPPORTED, "this process sees no HIP device"};
    for (int32_t ordinal = 0; ordinal < count; ++ordinal) {
        auto device = std::make_unique<Device>();
        device->ordinal = ordinal;
        if (Status status = describe(attachment.hip, *device); !status.ok()) return status;
        if (const Device* const twin = with_uuid(attachment, device->info.uuid); twin != nullptr)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("HIP devices {} and {} have the same UUID and PCI id, so no process can name one of "
                                "them to another",
                                twin->ordinal, ordinal)};
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
        info->active = in_use(attachment, *device) ? 1 : 0;
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

}  // namespace peercoll::hip
