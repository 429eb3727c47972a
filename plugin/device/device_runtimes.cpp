// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/device_runtimes.hpp"

#include "plugin/device/runtime_users.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace peercoll {

namespace {

std::string_view base_name(const char* path) {
    const std::string_view text(path == nullptr ? "" : path);
    return text.substr(text.find_last_of('/') + 1);
}

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> names;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* user) {
            static_cast<std::vector<std::string>*>(user)->emplace_back(base_name(info->dlpi_name));
            return 0;
        },
        &names);
    return names;
}

bool is_loaded(const peercoll_device_runtime_t& runtime, const std::vector<std::string>& loaded) {
    for (const char* const* library = runtime.libraries; library != nullptr && *library != nullptr; ++library)
        if (std::any_of(loaded.begin(), loaded.end(),
                        [&](const std::string& one) { return one.starts_with(*library); }))
            return true;
    return false;
}

bool is_started(const peercoll_device_runtime_t& runtime) {
    return !PEERCOLL_DEVICE_HAS(&runtime, is_started) || runtime.is_started() != 0;
}

// What every runtime must have; the rest is asked for where it is used.
bool is_complete(const peercoll_device_runtime_t& runtime) {
    return PEERCOLL_DEVICE_HAS(&runtime, libraries) && PEERCOLL_DEVICE_HAS(&runtime, open) &&
           PEERCOLL_DEVICE_HAS(&runtime, close) && PEERCOLL_DEVICE_HAS(&runtime, device_count) &&
           PEERCOLL_DEVICE_HAS(&runtime, device_info) && PEERCOLL_DEVICE_HAS(&runtime, classify) &&
           PEERCOLL_DEVICE_HAS(&runtime, stream_create) && PEERCOLL_DEVICE_HAS(&runtime, stream_destroy) &&
           PEERCOLL_DEVICE_HAS(&runtime, stream_query) && PEERCOLL_DEVICE_HAS(&runtime, stream_synchronize) &&
           PEERCOLL_DEVICE_HAS(&runtime, copy);
}

}  // namespace

std::uint64_t DeviceRuntimes::library_loads() {
    std::uint64_t loads = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* user) {
            *static_cast<std::uint64_t*>(user) = info->dlpi_adds;
            return 1;  // the first object tells
        },
        &loads);
    return loads;
}

DeviceRuntimes::DeviceRuntimes(const std::vector<const peercoll_device_runtime_t*>& built_in,
                               const std::vector<std::string>& paths, std::vector<std::string>& problems) {
    for (const peercoll_device_runtime_t* runtime : built_in)
        known_.push_back({runtime, false, false, false, {}, nullptr});
    for (const std::string& path : paths) load(path, problems);
}

void DeviceRuntimes::load(const std::string& path, std::vector<std::string>& problems) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        problems.push_back(fmt::format("option device_runtimes: {}", ::dlerror()));
        return;
    }
    const auto* runtime =
        static_cast<const peercoll_device_runtime_t*>(::dlsym(library, PEERCOLL_DEVICE_RUNTIME_SYMBOL));
    std::string problem;
    if (runtime == nullptr)
        problem = fmt::format("has no symbol {}", PEERCOLL_DEVICE_RUNTIME_SYMBOL);
    else if (runtime->abi_version != PEERCOLL_DEVICE_ABI_VERSION)
        problem = fmt::format("has version {} of the device interface, expected {}", runtime->abi_version,
                              PEERCOLL_DEVICE_ABI_VERSION);
    else if (!is_complete(*runtime))
        problem = "lacks functions that every device runtime must have";
    else if (std::any_of(known_.begin(), known_.end(), [&](const Known& one) { return one.runtime == runtime; }))
        problem = "is named twice";
    else if (known_.size() >= most)
        problem = fmt::format("is not used: there are {} device runtimes, and no more can be", most);
    if (!problem.empty()) {
        problems.push_back(fmt::format("option device_runtimes: {} {}", path, problem));
        ::dlclose(library);
        return;
    }
    known_.push_back({runtime, false, false, false, {}, library});
}

DeviceRuntimes::~DeviceRuntimes() {
    for (Known& known : known_) {
        if (known.open) close_runtime(*known.runtime);
        if (known.library != nullptr) ::dlclose(known.library);
    }
}

void DeviceRuntimes::look_for_news(std::uint64_t now) {
    const std::uint64_t loads = library_loads();
    if (loads != seen_loads_.load(std::memory_order_acquire) || waiting_.load(std::memory_order_acquire)) look(loads);
    looked_at_.store(now, std::memory_order_relaxed);
}

void DeviceRuntimes::look(std::uint64_t loads) {
    const std::lock_guard lock(mutex_);
    if (seen_loads_.load(std::memory_order_relaxed) != loads) {
        const std::vector<std::string> loaded = loaded_libraries();
        for (Known& known : known_) known.loaded = is_loaded(*known.runtime, loaded);
    }
    bool waiting = false;
    for (Known& known : known_) {
        if (known.tried || !known.loaded) continue;
        if (is_started(*known.runtime))
            open(known);
        else
            waiting = true;
    }
    waiting_.store(waiting, std::memory_order_release);
    // What open() has loaded itself is no news; what another thread loads meanwhile is seen at the next look.
    seen_loads_.store(loads, std::memory_order_release);
}

void DeviceRuntimes::open(Known& known) {
    known.tried = true;
    peercoll_reason_t reason{};
    known.open = open_runtime(*known.runtime, reason) == PEERCOLL_SUCCESS;
    known.reason = reason.text;
    if (!known.open) return;
    const std::size_t index = opened_.load(std::memory_order_relaxed);
    runtimes_[index] = known.runtime;
    opened_.store(index + 1, std::memory_order_release);
}

ClassifiedMemory DeviceRuntimes::classify(const void* address) {
    ClassifiedMemory memory;
    if (!in_use()) return memory;
    const std::size_t count = opened_.load(std::memory_order_acquire);
    for (std::size_t index = 0; index < count; ++index) {
        const peercoll_device_runtime_t* runtime = runtimes_[index];
        runtime->classify(address, &memory.info);
        if (memory.info.kind == PEERCOLL_MEMORY_HOST) continue;
        memory.runtime = runtime;
        return memory;
    }
    return memory;
}

std::vector<const peercoll_device_runtime_t*> DeviceRuntimes::open_runtimes() {
    if (!in_use()) return {};
    return {runtimes_.begin(), runtimes_.begin() + static_cast<std::ptrdiff_t>(opened_.load())};
}

std::vector<std::string> DeviceRuntimes::describe() {
    in_use();
    std::vector<std::string> lines;
    const std::lock_guard lock(mutex_);
    for (const Known& known : known_) {
        const peercoll_device_runtime_t& runtime = *known.runtime;
        if (!known.tried && known.loaded) {
            lines.push_back(fmt::format("{}: off, this process has loaded it and not started it", runtime.name));
        } else if (!known.tried) {
            lines.push_back(fmt::format("{}: off, this process has not loaded it", runtime.name));
        } else if (!known.open) {
            lines.push_back(fmt::format("{}: off, {}", runtime.name, known.reason));
        } else {
            const char* version = PEERCOLL_DEVICE_HAS(&runtime, version_text) ? runtime.version_text() : "in use";
            lines.push_back(fmt::format(
                "{}: {}, {}", runtime.name, version,
                runtime.device_count() == 1 ? "1 device" : fmt::format("{} devices", runtime.device_count())));
        }
    }
    return lines;
}

}  // namespace peercoll
