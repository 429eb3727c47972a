// SPDX-License-Identifier: BSD-3-Clause
// Holds a stream until it is told not to: a function that the stream calls waits here. Of no vendor.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace peercoll::conformance {

class Gate {
public:
    void open() { is_open_.store(true); }
    // In the function that the stream calls. A gate that nobody opens must not hang the process.
    void pass() const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!is_open_.load() && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
    }

private:
    std::atomic<bool> is_open_ = false;
};

// Whether `ready()` becomes true within the limit.
template <typename Ready>
bool becomes(const Ready& ready, int limit_ms) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    while (!ready()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

}  // namespace peercoll::conformance
