// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/contexts.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

bool is_active(const Attachment& attachment, const Device& device) {
    unsigned flags = 0;
    int active = 0;
    return attachment.driver.primary_context_get_state(device.handle, &flags, &active) == code::success && active != 0;
}

bool is_teardown(CuResult error) {
    return error == code::deinitialized || error == code::invalid_context || error == code::context_is_destroyed;
}

Status retain_context(Attachment& attachment, Device& device, CuContext& context) {
    context = device.context.load(std::memory_order_acquire);
    if (context != nullptr) return {};
    const std::lock_guard lock(device.mutex);
    context = device.context.load(std::memory_order_acquire);
    if (context != nullptr) return {};
    if (!device.memory_seen.load(std::memory_order_relaxed) && !is_active(attachment, device))
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("this process does not use CUDA device {} ({}), and peercoll makes no context on it",
                            device.ordinal, device.info.name)};
    if (const CuResult error = attachment.driver.primary_context_retain(&context, device.handle);
        error != code::success) {
        context = nullptr;
        return driver_error(attachment.driver, error,
                            fmt::format("retaining the primary context of CUDA device {}", device.ordinal));
    }
    device.context.store(context, std::memory_order_release);
    return {};
}

void release_contexts(Attachment& attachment) {
    for (const auto& device : attachment.devices)
        if (device->context.exchange(nullptr) != nullptr)
            attachment.driver.primary_context_release(device->handle);  // an error: it is gone already
}

ContextScope::ContextScope(const DriverFunctions& driver, CuContext context) : driver_(driver) {
    if (driver.exchange_capture_mode != nullptr)
        exchanged_ = driver.exchange_capture_mode(&capture_mode_) == code::success;
    CuContext current = nullptr;
    if (driver.context_get_current(&current) == code::success && current == context) return;
    result_ = driver.context_push(context);
    pushed_ = result_ == code::success;
}

ContextScope::~ContextScope() {
    CuContext popped = nullptr;
    if (pushed_) driver_.context_pop(&popped);
    if (exchanged_) driver_.exchange_capture_mode(&capture_mode_);
}

}  // namespace peercoll::cuda
