// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/current_device.hpp"

namespace peercoll::hip {

DeviceScope::DeviceScope(const HipFunctions& hip, int32_t device) : hip_(hip) {
    if (hip.exchange_capture_mode != nullptr) exchanged_ = hip.exchange_capture_mode(&capture_mode_) == code::success;
    result_ = hip.get_device(&before_);
    if (result_ != code::success || before_ == device) return;
    result_ = hip.set_device(device);
    changed_ = result_ == code::success;
}

DeviceScope::~DeviceScope() {
    if (changed_) (void)hip_.set_device(before_);
    if (exchanged_) (void)hip_.exchange_capture_mode(&capture_mode_);
}

}  // namespace peercoll::hip
