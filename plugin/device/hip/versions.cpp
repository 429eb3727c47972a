// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/versions.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

constexpr int major_of_new_numbers = 6;

// hipMemoryType
namespace before_6 {
constexpr int host = 0;
constexpr int device = 1;
}  // namespace before_6
namespace since_6 {
constexpr int unregistered = 0;
constexpr int host = 1;
constexpr int device = 2;
}  // namespace since_6

}  // namespace

std::string version_sentence(Version version) {
    return fmt::format("HIP {}.{} runtime", version.major(), version.minor());
}

unsigned ipc_flag(Version version) {
    return version.major() < major_of_new_numbers ? 0 : 1;
}

bool opens_by_owners_ordinal(Version version) {
    return version.major() >= 7;
}

peercoll_memory_kind_t memory_kind(Version version, const HipPointerAttributes& attributes) {
    if (attributes.is_managed != 0) return PEERCOLL_MEMORY_MANAGED;
    if (version.major() < major_of_new_numbers) {
        if (attributes.type == before_6::host) return PEERCOLL_MEMORY_PINNED;
        if (attributes.type == before_6::device) return PEERCOLL_MEMORY_DEVICE;
        return PEERCOLL_MEMORY_MANAGED;  // unified, or managed in the last of them
    }
    if (attributes.type == since_6::unregistered) return PEERCOLL_MEMORY_HOST;
    if (attributes.type == since_6::host) return PEERCOLL_MEMORY_PINNED;
    if (attributes.type == since_6::device) return PEERCOLL_MEMORY_DEVICE;
    return PEERCOLL_MEMORY_MANAGED;
}

bool kernels_can_release(std::string_view architecture) {
    constexpr std::array<std::string_view, 4> beginnings = {"gfx90a", "gfx94", "gfx95", "gfx12"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return architecture.starts_with(beginning); });
}

}  // namespace peercoll::hip
