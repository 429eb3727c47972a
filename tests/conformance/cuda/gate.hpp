// SPDX-License-Identifier: BSD-3-Clause
// Holds a stream until it is told not to.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"
#include "tests/conformance/runner/gate.hpp"

namespace peercoll::conformance::cuda {

class StreamGate {
public:
    StreamGate() = default;
    // Opens, and waits until no stream needs it any more.
    ~StreamGate();
    StreamGate(const StreamGate&) = delete;
    StreamGate& operator=(const StreamGate&) = delete;

    // What is enqueued to `stream` from now on runs when the gate is open.
    void hold(CUstream stream);
    void open() { gate_.open(); }

private:
    Gate gate_;
};

// Whether all work of the stream, or of the event, is done within the limit.
bool becomes_idle(CUstream stream, int limit_ms = 20'000);
bool becomes_complete(CUevent event, int limit_ms = 20'000);

}  // namespace peercoll::conformance::cuda
