// SPDX-License-Identifier: BSD-3-Clause
// An event of the current context.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"

namespace peercoll::conformance::cuda {

class Event {
public:
    explicit Event(unsigned flags = event_disable_timing) {
        need("cuEventCreate", driver().cuEventCreate(&handle_, flags));
    }
    // Opens what another process exported.
    explicit Event(const CUipcEventHandle& exported) {
        need("cuIpcOpenEventHandle", driver().cuIpcOpenEventHandle(&handle_, exported));
    }
    ~Event() { driver().cuEventDestroy(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    CUevent get() const { return handle_; }

private:
    CUevent handle_ = nullptr;
};

}  // namespace peercoll::conformance::cuda
