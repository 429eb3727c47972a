// SPDX-License-Identifier: BSD-3-Clause
// HIP works on the calling thread's current device: ours while we work on one, and afterwards again the application's.
#pragma once

#include "plugin/device/hip/attachment.hpp"

namespace peercoll::hip {

// Between construction and destruction the device is current, and a capture of the application's stream on this thread
// neither fails our calls nor is spoiled by them.
class DeviceScope {
public:
    DeviceScope(const HipFunctions& hip, int32_t device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
    // Whether the device could be made current.
    HipError result() const { return result_; }

private:
    const HipFunctions& hip_;
    HipError result_ = code::success;
    int before_ = 0;
    bool changed_ = false;
    bool exchanged_ = false;
    int capture_mode_ = capture_mode_relaxed;
};

// Calls `work(device)`, which gives a Status, with the device current.
template <typename Work>
Status on_device(Attachment& attachment, int32_t ordinal, Work work) {
    Device* const device = attachment.device(ordinal);
    if (device == nullptr) return no_device(attachment, ordinal);
    const DeviceScope scope(attachment.hip, ordinal);
    if (scope.result() != code::success)
        return hip_error(attachment.hip, scope.result(), "making a HIP device the current one");
    return work(*device);
}

}  // namespace peercoll::hip
