// SPDX-License-Identifier: BSD-3-Clause
// How much of a device's memory is in use, over all living processes of the node. Each process lists the blocks it
// holds, its own and imported ones, in a table that others can read; a block counts once, and for as long as anybody
// has it. Processes find each other by abstract sockets, which vanish with them: nothing is left by a killed one.
#pragma once

#include "tests/simulated_devices/core/node.hpp"

#include <cstdint>
#include <string>

namespace peercoll::simulator {

// Takes part, with the processes that say the same `scope` and share the network namespace. False: the machine refused,
// and only this process's own memory is counted.
bool census_start(const std::string& scope);

void census_add(std::uint64_t block, std::uint64_t bytes, const Uuid& device);
void census_remove(std::uint64_t block);

// What this process holds, on all devices together; cheap.
std::uint64_t census_own_bytes();
std::uint64_t census_bytes_in_use(const Uuid& device);

}  // namespace peercoll::simulator
