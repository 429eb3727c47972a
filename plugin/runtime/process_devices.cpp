// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/process_devices.hpp"

#include "plugin/device/built_in_runtimes.hpp"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace peercoll {

namespace {

std::vector<std::string> split_paths(std::string_view text) {
    std::vector<std::string> paths;
    while (!text.empty()) {
        const std::string_view path = text.substr(0, text.find(':'));
        if (!path.empty()) paths.emplace_back(path);
        text = path.size() == text.size() ? std::string_view{} : text.substr(path.size() + 1);
    }
    return paths;
}

std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

Status copy_by(StreamPool& streams, const ClassifiedMemory& device, void* to, const void* from, std::size_t bytes) {
    LentStream stream;
    if (Status status = streams.take(*device.runtime, device.info.device, stream); !status.ok()) return status;
    if (Status status = stream.copy(number(to), number(from), bytes); !status.ok()) return status;
    return stream.synchronize();
}

}  // namespace

ProcessDevices::ProcessDevices(const Options& options, std::vector<std::string>& problems)
    : wanted_(options.devices == Devices::On),
      runtimes_(wanted_ ? built_in_runtimes() : std::vector<const peercoll_device_runtime_t*>{},
                wanted_ ? split_paths(options.device_runtimes) : std::vector<std::string>{}, problems),
      mappings_(options.mapping_cache) {}

Status ProcessDevices::settle(const ClassifiedMemory& memory) {
    if (!memory.on_device() || !PEERCOLL_DEVICE_HAS(memory.runtime, settle)) return {};
    int lasting = 0;
    peercoll_reason_t reason{};
    const peercoll_status_t status = memory.runtime->settle(&memory.info, &lasting, &reason);
    return status == PEERCOLL_SUCCESS ? Status() : Status(status, reason.text);
}

bool ProcessDevices::has_active_device() {
    if (!in_use()) return false;
    for (const peercoll_device_runtime_t* runtime : runtimes_.open_runtimes()) {
        for (std::int32_t device = 0; device < runtime->device_count(); ++device) {
            peercoll_device_info_t info{};
            if (runtime->device_info(device, &info, nullptr) == PEERCOLL_SUCCESS && info.active != 0) return true;
        }
    }
    return false;
}

DescriptorChannel* ProcessDevices::channel() {
    const std::lock_guard lock(channel_mutex_);
    if (!channel_tried_) {
        channel_tried_ = true;
        if (!DescriptorChannel::open(channel_).ok()) channel_.reset();
    }
    return channel_.get();
}

Status ProcessDevices::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return {};
    const ClassifiedMemory target = classify(to);
    const ClassifiedMemory source = classify(from);
    if (!target.on_device() && !source.on_device()) {
        std::memcpy(to, from, bytes);
        return {};
    }
    if (Status status = settle(source); !status.ok()) return status;
    if (Status status = settle(target); !status.ok()) return status;
    if (!target.on_device() || !source.on_device() || target.runtime == source.runtime)
        return copy_by(streams_, source.on_device() ? source : target, to, from, bytes);
    // Two makers' devices have only host memory in common.
    StagedBytes staged;
    if (Status status = staged.take(staging_, nullptr, 0, bytes); !status.ok()) return status;
    if (Status status = copy_by(streams_, source, staged.get(), from, bytes); !status.ok()) return status;
    return copy_by(streams_, target, to, staged.get(), bytes);
}

Status ProcessDevices::take_staging(std::size_t bytes, std::byte*& memory) {
    for (const peercoll_device_runtime_t* runtime :
         in_use() ? runtimes_.open_runtimes() : std::vector<const peercoll_device_runtime_t*>{}) {
        for (std::int32_t device = 0; device < runtime->device_count(); ++device) {
            peercoll_device_info_t info{};
            if (runtime->device_info(device, &info, nullptr) == PEERCOLL_SUCCESS && info.active != 0)
                return staging_.take(runtime, device, bytes, memory);
        }
    }
    return staging_.take(nullptr, 0, bytes, memory);
}

std::vector<std::string> ProcessDevices::describe() {
    if (!wanted_) return {"devices: off, option devices"};
    std::vector<std::string> lines = runtimes_.describe();
    for (const peercoll_device_runtime_t* runtime : runtimes_.open_runtimes()) {
        for (std::int32_t device = 0; device < runtime->device_count(); ++device) {
            peercoll_device_info_t info{};
            peercoll_reason_t reason{};
            if (runtime->device_info(device, &info, &reason) != PEERCOLL_SUCCESS) {
                lines.push_back(fmt::format("  {} device {}: {}", runtime->name, device, reason.text));
                continue;
            }
            lines.push_back(fmt::format("  {} device {}: {}, {}, {:.1f} GiB, PCI {}{}; reductions: {}", runtime->name,
                                        device, info.name, info.architecture,
                                        static_cast<double>(info.memory_bytes) / (std::uint64_t{1} << 30),
                                        info.pci_id[0] == '\0' ? "unknown" : info.pci_id,
                                        info.active != 0 ? ", in use by this process" : "", info.reductions));
        }
    }
    return lines;
}

}  // namespace peercoll
