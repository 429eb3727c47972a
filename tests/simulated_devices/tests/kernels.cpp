// SPDX-License-Identifier: BSD-3-Clause
// The kernel that the tests launch.
#include "tests/simulated_devices/core/simulated_launch.h"

#include <cstdint>
#include <cstring>

namespace {
struct Parameters {
    std::uint64_t address;
    std::uint64_t count;
    unsigned char value;
};
}  // namespace

extern "C" {

__attribute__((visibility("default"))) extern const std::size_t store_parameter_bytes;
const std::size_t store_parameter_bytes = sizeof(Parameters);

__attribute__((visibility("default"))) void store(void* parameters, const peercoll_simulated_launch* launch) {
    const auto& wanted = *static_cast<const Parameters*>(parameters);
    void* const memory = launch->translate(launch, wanted.address, wanted.count, 1);
    if (memory != nullptr) {
        std::memset(memory, wanted.value, wanted.count);
    }
}

}  // extern "C"
