// SPDX-License-Identifier: BSD-3-Clause
// Contexts: only primary ones, and only those of devices that this process uses already. They are made current around
// our calls and never left so.
#pragma once

#include "plugin/device/cuda/attachment.hpp"

namespace peercoll::cuda {

// Retains the primary context of `device` if it is not yet: only where the process has it active, or has handed us
// memory of the device (an application may use contexts of its own).
Status retain_context(Attachment& attachment, Device& device, CuContext& context);
// Gives back all contexts, tolerant of a driver that is gone.
void release_contexts(Attachment& attachment);
bool is_active(const Attachment& attachment, const Device& device);
// Errors that mean that the driver or the context went before us: there is nothing left to give back.
bool is_teardown(CuResult error);

// Between construction and destruction the context is current, and a capture of the application's stream on this thread
// neither fails our calls nor is spoiled by them.
class ContextScope {
public:
    ContextScope(const DriverFunctions& driver, CuContext context);
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
    // Whether the context could be made current.
    CuResult result() const { return result_; }

private:
    const DriverFunctions& driver_;
    CuResult result_ = code::success;
    bool pushed_ = false;
    bool exchanged_ = false;
    int capture_mode_ = capture_mode_relaxed;
};

// Calls `work(device)`, which gives a Status, with the device's context current.
template <typename Work>
Status on_device(Attachment& attachment, int32_t ordinal, Work work) {
    Device* const device = attachment.device(ordinal);
    if (device == nullptr) return no_device(attachment, ordinal);
    CuContext context = nullptr;
    if (Status retained = retain_context(attachment, *device, context); !retained.ok()) return retained;
    const ContextScope scope(attachment.driver, context);
    if (scope.result() != code::success)
        return driver_error(attachment.driver, scope.result(), "making the context of a device current",
                            "was the device reset?");
    return work(*device);
}

}  // namespace peercoll::cuda
