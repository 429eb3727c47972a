// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/current_context.hpp"

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {
constexpr int of_this_thread = 0;
}

ContextScope::~ContextScope() {
    if (changed_ && before_ != nullptr) (void)acl_.set_current_context(before_);
}

Status ContextScope::make_current(Attachment& attachment, Device& device) {
    AclContext context = device.context.load(std::memory_order_acquire);
    if (context == nullptr) {
        const std::lock_guard lock(attachment.starting);
        if (Status status = hold_reference(attachment); !status.ok()) return status;
        context = device.context.load(std::memory_order_acquire);
        if (context == nullptr) {
            AclError error = acl_.set_device(device.ordinal);
            changed_ = error == code::success;
            if (error == code::success) error = acl_.get_current_context(&context);
            if (error != code::success)
                return acl_error(acl_, error, fmt::format("using Ascend device {}", device.ordinal));
            device.context.store(context, std::memory_order_release);
            return {};
        }
    }
    if (context == before_) return {};
    if (const AclError error = acl_.set_current_context(context); error != code::success)
        return acl_error(acl_, error, fmt::format("making Ascend device {} the current one", device.ordinal),
                         "was it reset by force?");
    changed_ = true;
    return {};
}

Status hold_reference(Attachment& attachment) {
    if (attachment.holds_reference) return {};
    // Said by every call but the first, and it counts as one.
    const AclError error = attachment.acl.init(nullptr);
    if (error != code::success && error != code::repeat_initialize)
        return {PEERCOLL_ERR_NOT_SUPPORTED, acl_error(attachment.acl, error, "aclInit").sentence()};
    attachment.holds_reference = true;
    return {};
}

bool has_error_waiting(const AclFunctions& acl) {
    return acl.peek_at_last_error != nullptr && acl.peek_at_last_error(of_this_thread) != code::success;
}

void take_error(const AclFunctions& acl) {
    if (acl.get_last_error != nullptr && has_error_waiting(acl)) (void)acl.get_last_error(of_this_thread);
}

bool find_context(const AclFunctions& acl, AclContext& context) {
    context = nullptr;
    return acl.get_current_context(&context) == code::success && context != nullptr;
}

}  // namespace peercoll::ascend
