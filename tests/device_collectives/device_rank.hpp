// SPDX-License-Identifier: BSD-3-Clause
// A rank of these tests: a process of a simulated node that has loaded the driver and uses one device of it, as an
// application does, and what it finds out about the plugin's work.
#pragma once

#include "tests/device_collectives/test_memory.hpp"
#include "tests/support/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace peercoll::test {

// One of tests/simulated_devices/nodes/.
Machine machine_of(const std::string& node);
// `devices` devices that all reach each other, whose streams begin their work up to `delay` microseconds late.
Machine machine_with(int devices, int delay = 20);

class DeviceRank {
public:
    DeviceRank(const Rank& rank, const Machine& machine, int device);
    // After the communicators and contexts: nothing of the device's memory may be in use any more.
    ~DeviceRank();
    DeviceRank(const DeviceRank&) = delete;
    DeviceRank& operator=(const DeviceRank&) = delete;

    const Application& application() const { return application_; }
    const Application* operator->() const { return &application_; }
    int device() const { return device_; }
    // Another device of this process, in whose memory it allocates from now on.
    void use(int device);
    // By all processes together, on this rank's device.
    std::uint64_t bytes_in_use() const;

private:
    Rank rank_;
    Application application_;
    int device_;
};

// For a rank that has no device at the end, where others leave.
void leave_with_devices(const Rank& rank);

// The first device buffer of a communicator is met by an allreduce, and all later collectives know of devices.
void meet_devices(const Comm& comm, const TestMemory& memory);

// Calls in which device memory went by way of host memory: staged, or by islands.
std::uint64_t by_way_of_host(const Context& context, const std::string& collective);

// What describe_comm says.
std::vector<std::string> description_of(const Comm& comm);
// Some line of it contains `words`.
testing::AssertionResult says(const std::vector<std::string>& lines, const std::string& words);

}  // namespace peercoll::test
