// SPDX-License-Identifier: BSD-3-Clause
// Holds a stream until it is told not to.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"

#include <atomic>
#include <memory>

namespace peercoll::conformance::cuda {

class Gate {
public:
    Gate() : is_open_(std::make_unique<std::atomic<bool>>(false)) {}
    // Opens, and waits until no stream needs it any more.
    ~Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    // What is enqueued to `stream` from now on runs when the gate is open.
    void hold(CUstream stream);
    void open() { is_open_->store(true); }

private:
    std::unique_ptr<std::atomic<bool>> is_open_;
};

// Whether all work of the stream, or of the event, is done within the limit.
bool becomes_idle(CUstream stream, int limit_ms = 20'000);
bool becomes_complete(CUevent event, int limit_ms = 20'000);

}  // namespace peercoll::conformance::cuda
