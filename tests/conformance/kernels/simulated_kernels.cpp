// SPDX-License-Identifier: BSD-3-Clause
// The suite's kernels (a vendor's are beside its suite) as the simulated node runs them.
#include "tests/conformance/kernels/kernel_parameters.hpp"
#include "tests/simulated_devices/core/simulated_launch.h"

#include <sched.h>

#include <atomic>
#include <cstddef>

#define EXPORTED extern "C" __attribute__((visibility("default")))

using namespace peercoll::conformance;

namespace {

std::uint64_t* words(const peercoll_simulated_launch* launch, std::uint64_t address, std::uint64_t count, bool write) {
    return static_cast<std::uint64_t*>(launch->translate(launch, address, count * 8, write ? 1 : 0));
}

void store_released(std::uint64_t* word, std::uint64_t value) {
    std::atomic_ref(*word).store(value, std::memory_order_release);
}

}  // namespace

EXPORTED const std::size_t peercoll_conformance_store_parameter_bytes = sizeof(StoreParameters);
EXPORTED void peercoll_conformance_store(void* parameters, const peercoll_simulated_launch* launch) {
    const auto& p = *static_cast<const StoreParameters*>(parameters);
    std::uint64_t* const target = words(launch, p.target, p.count, true);
    if (target == nullptr) return;
    for (std::uint64_t i = 0; i < p.count; ++i) target[i] = p.value + i;
    if (p.flag == 0) return;
    if (std::uint64_t* const flag = words(launch, p.flag, 1, true); flag != nullptr) store_released(flag, p.flag_value);
}

EXPORTED const std::size_t peercoll_conformance_copy_parameter_bytes = sizeof(CopyParameters);
EXPORTED void peercoll_conformance_copy(void* parameters, const peercoll_simulated_launch* launch) {
    const auto& p = *static_cast<const CopyParameters*>(parameters);
    const std::uint64_t* const source = words(launch, p.source, p.count, false);
    std::uint64_t* const target = words(launch, p.target, p.count, true);
    if (source == nullptr || target == nullptr) return;
    for (std::uint64_t i = 0; i < p.count; ++i) target[i] = source[i];
}

EXPORTED const std::size_t peercoll_conformance_wait_parameter_bytes = sizeof(WaitParameters);
EXPORTED void peercoll_conformance_wait(void* parameters, const peercoll_simulated_launch* launch) {
    const auto& p = *static_cast<const WaitParameters*>(parameters);
    std::uint64_t* const flag = words(launch, p.flag, 1, false);
    std::uint64_t* const result = words(launch, p.result, 1, true);
    if (flag == nullptr || result == nullptr) return;
    bool seen = false;
    for (std::uint64_t look = 0; look < p.looks && !seen; ++look) {
        seen = std::atomic_ref(*flag).load(std::memory_order_acquire) == p.value;
        if (!seen) sched_yield();
    }
    store_released(result, seen ? 1 : 2);
}
