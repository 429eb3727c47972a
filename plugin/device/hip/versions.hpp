// SPDX-License-Identifier: BSD-3-Clause
// What differs between ROCm 5, 6 and 7, chosen by what the library says of itself at run time. Pure functions.
#pragma once

#include "plugin/device/hip/hip_types.hpp"

#include <peercoll/device.h>

#include <string>
#include <string_view>

namespace peercoll::hip {

// 50221153, as hipRuntimeGetVersion gives it, is 5.2.21153.
struct Version {
    int number = 0;
    int major() const { return number / 10'000'000; }
    int minor() const { return number / 100'000 % 100; }
};

inline constexpr int oldest_major = 5;

// "HIP 5.2 runtime"
std::string version_sentence(Version version);

// The only flag that hipIpcOpenMemHandle takes: hipIpcMemLazyEnablePeerAccess, which is 0 before ROCm 6.
unsigned ipc_flag(Version version);

// Whether the library opens a handle for the device whose number is the owner's number for it, whatever that is here.
bool opens_by_owners_ordinal(Version version);

// What hipPointerGetAttributes says, in our words. Managed memory is told by a field of its own, in some versions only.
peercoll_memory_kind_t memory_kind(Version version, const HipPointerAttributes& attributes);

// Where "gfx90a:sramecc+:xnack-" lies in what the two versions of hipGetDeviceProperties write, and how much they write
// at most.
inline constexpr std::size_t old_architecture_offset = 396;
inline constexpr std::size_t new_architecture_offset = 1160;
inline constexpr std::size_t properties_bytes = 8192;

// Whether a store with release at system scope also writes back what the device's second level cache holds, so that a
// kernel may itself say that its results are there for everybody. Elsewhere the end of the kernel has to come first.
bool kernels_can_release(std::string_view architecture);

}  // namespace peercoll::hip
