// SPDX-License-Identifier: BSD-3-Clause
// A rank of these tests: a process of a simulated node that has loaded the vendor's library and uses one device, as an
// application does, and what it finds out about the plugin's work.
#pragma once

#include "tests/device_collectives/test_memory.hpp"
#include "tests/support/plugin.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peercoll::test {

// One of tests/simulated_devices/nodes/.
Machine machine_of(const std::string& node);
// `devices` devices that all reach each other, whose streams begin their work up to `delay` microseconds late.
Machine machine_with(int devices, int delay = 20);

class DeviceRank {
public:
    DeviceRank(const Rank& rank, const Machine& machine, int device, const Face& face = test::face());
    // After the communicators and contexts: nothing of the device's memory may be in use any more.
    ~DeviceRank();
    DeviceRank(const DeviceRank&) = delete;
    DeviceRank& operator=(const DeviceRank&) = delete;

    const Application& application() const { return *application_; }
    const Application* operator->() const { return application_.get(); }
    int device() const { return device_; }
    // Another device of this process, in whose memory it allocates from now on.
    void use(int device);
    // By all processes together, on this rank's device; of real ones only what came after the ranks' contexts.
    std::uint64_t bytes_in_use() const;

private:
    Rank rank_;
    std::unique_ptr<Application> application_;
    int device_;
    bool simulated_;
    std::uint64_t before_ = 0;  // bytes in use
};

// For tests of what only a simulated node has: faults, and as many devices as one likes.
void skip_on_real_devices();

// For a rank that has no device at the end, where others leave.
void leave_with_devices(const Rank& rank);

// The first device buffer of a communicator is met by an allreduce, and all later collectives know of devices.
void meet_devices(const Comm& comm, const TestMemory& memory);

// For tests that count from the first call on: makes the use of this rank's device known before its communicators are
// made. HIP calls device 0 the current one of every thread that never chose one, so that its use shows with a buffer.
void show_device(const Context& context, const TestMemory& memory);

// Calls of "allreduce" or "broadcast" with device buffers that went through host memory: all of the data (staged), or
// what devices had folded for those that they reach (islands).
std::uint64_t by_way_of_host(const Context& context, const std::string& collective);
// All `calls` calls so far ran on the devices, or else none did and all went through host memory.
void expect_all(const Context& context, const std::string& collective, std::uint64_t calls, bool fused);

// What describe_comm says, and describe_devices.
std::vector<std::string> description_of(const Comm& comm);
std::vector<std::string> description_of(const Context& context);
// Some line of it contains `words`.
testing::AssertionResult says(const std::vector<std::string>& lines, const std::string& words);

}  // namespace peercoll::test
