// SPDX-License-Identifier: BSD-3-Clause
// ACL works on the calling thread's current context: ours while we work on a device, and afterwards again the
// application's. A thread that has none cannot be given none again once it had one, and an error that the application
// has not looked at yet is lost with the next call; for such a thread the work is done on a thread of its own.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

#include <exception>
#include <thread>

namespace peercoll::ascend {

// Between construction and destruction another context may be made current.
class ContextScope {
public:
    ContextScope(const AclFunctions& acl, AclContext before) : acl_(acl), before_(before) {}
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
    // Makes the device's own context the current one; the first time, holds it until close().
    Status make_current(Attachment& attachment, Device& device);

private:
    const AclFunctions& acl_;
    AclContext before_;
    bool changed_ = false;
};

// Takes a reference to an initialised ACL, until close(). Other than CUDA and HIP, ACL has no implicit initialisation,
// and one that we begin makes the application's own say "repeated"; so it is done as late as possible. With
// attachment.starting held.
Status hold_reference(Attachment& attachment);

bool has_error_waiting(const AclFunctions& acl);
// What our calls left there.
void take_error(const AclFunctions& acl);
// Whether the thread has a context, and which.
bool find_context(const AclFunctions& acl, AclContext& context);

template <typename Work>
Status on_own_thread(Work work) {
    Status status;
    std::exception_ptr thrown;
    std::thread([&] {
        try {
            status = work();
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
    return status;
}

// Calls `work`, which gives a Status and asks ACL what needs no device, and leaves the thread's error as it was.
template <typename Work>
Status quietly(const AclFunctions& acl, Work work) {
    if (has_error_waiting(acl)) return on_own_thread(work);
    Status status = work();
    take_error(acl);
    return status;
}

// Calls `work(device)`, which gives a Status, with the device's context current.
template <typename Work>
Status on_device(Attachment& attachment, int32_t ordinal, Work work) {
    Device* const device = attachment.device(ordinal);
    if (device == nullptr) return no_device(attachment, ordinal);
    const auto in_scope = [&](AclContext before) {
        ContextScope scope(attachment.acl, before);
        Status status = scope.make_current(attachment, *device);
        return status.ok() ? work(*device) : status;
    };
    AclContext before = nullptr;
    if (has_error_waiting(attachment.acl)) return on_own_thread([&] { return in_scope(nullptr); });
    Status status =
        find_context(attachment.acl, before) ? in_scope(before) : on_own_thread([&] { return in_scope(nullptr); });
    take_error(attachment.acl);
    return status;
}

}  // namespace peercoll::ascend
