// SPDX-License-Identifier: BSD-3-Clause
// A device runtime for the pools' tests: it counts what it gave out, and fails when told to. Thread safe.
#pragma once

#include <peercoll/device.h>

#include <atomic>

struct peercoll_stream {
    int device;
};

namespace peercoll::test {

struct Counts {
    std::atomic<int> streams_made{0};
    std::atomic<int> streams_there{0};
    std::atomic<int> registrations_made{0};
    std::atomic<int> registrations_there{0};
    std::atomic<bool> refuses{false};  // everything, with the sentence "refused by the test"
    std::atomic<bool> busy{false};     // what streams answer
};

// Two of them, which differ in their address alone. They count together.
const peercoll_device_runtime_t& counted_runtime();
const peercoll_device_runtime_t& other_runtime();
// One that has nothing of register_host and what is behind it.
const peercoll_device_runtime_t& runtime_without_pinning();

Counts& counts();
void reset_counts();

}  // namespace peercoll::test
