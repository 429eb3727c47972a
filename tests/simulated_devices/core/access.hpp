// SPDX-License-Identifier: BSD-3-Clause
// What a device may touch, and what its stores and copies do: the one place where the node's lies are told.
#pragma once

#include "tests/simulated_devices/core/address_space.hpp"
#include "tests/simulated_devices/core/execution.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace peercoll::simulator {

// Memory that an operation works on. Holds it.
struct Resolved {
    void* address = nullptr;  // null: illegal
    bool stores_lost = false;
    bool copies_lost = false;
    std::vector<std::shared_ptr<Mapping>> mappings;
};

// What a kernel of the context reaches at an address. Virtual memory that lies side by side is one piece.
Resolved resolve_for_kernel(const ExecutionContext& context, std::uint64_t address, std::uint64_t bytes, bool write);
// What a copy of the context reaches: also what its kernels do not, as a copy goes through the host where it must. An
// address that the runtime does not know is the application's own host memory.
Resolved resolve_for_copy(const ExecutionContext& context, std::uint64_t address, std::uint64_t bytes, bool write);

// Copies; IllegalAddress if either side is.
Result copy_bytes(const ExecutionContext& context, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
// Repeats `pattern`, 1, 2 or 4 bytes.
Result fill_bytes(const ExecutionContext& context, std::uint64_t to, std::uint32_t pattern, std::size_t pattern_bytes,
                  std::uint64_t count);

}  // namespace peercoll::simulator
