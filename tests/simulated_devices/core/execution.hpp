// SPDX-License-Identifier: BSD-3-Clause
// Where work runs: a context on a device. Its first fault stays, and all that follows fails with it.
#pragma once

#include "tests/simulated_devices/core/address_space.hpp"
#include "tests/simulated_devices/core/result.hpp"

#include <atomic>

namespace peercoll::simulator {

struct ExecutionContext {
    explicit ExecutionContext(int device_of_node) : device(device_of_node) {}

    const int device;
    std::atomic<DeviceSet> peers{0};  // whose plain memory its kernels reach besides their own device's
    std::atomic<Result> fault{Result::Ok};

    void fail(Result result) {
        Result none = Result::Ok;
        fault.compare_exchange_strong(none, result);
    }
    bool failed() const { return fault.load(std::memory_order_acquire) != Result::Ok; }
};

}  // namespace peercoll::simulator
