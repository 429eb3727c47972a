// SPDX-License-Identifier: BSD-3-Clause
// An ACL error as a Status, and a Status as the interface of devices answers.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/ascend/acl_api.hpp"

#include <peercoll/device.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace peercoll::ascend {

// "107002 (no device was chosen on this thread)"; other numbers alone.
std::string error_name(AclError error);
peercoll_status_t status_of(AclError error);
// `what` failed with `error`: "mapping another process's memory: ACL error 207006 (...), `advice`", and what ACL itself
// has to say. Takes ACL's message, which it gives once.
Status acl_error(const AclFunctions& acl, AclError error, std::string_view what, std::string_view advice = {});

void say(peercoll_reason_t* reason, std::string_view sentence) noexcept;

// Runs `work`, which gives a Status, as a function of the interface: nothing is thrown, and a failure leaves its
// sentence in `reason`.
template <typename Work>
peercoll_status_t answer(peercoll_reason_t* reason, Work work) noexcept {
    try {
        const Status status = work();
        if (!status.ok()) say(reason, status.sentence());
        return status.code();
    } catch (const std::bad_alloc&) {
        say(reason, "this process is out of host memory");
        return PEERCOLL_ERR_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        say(reason, error.what());
        return PEERCOLL_ERR_INTERNAL;
    }
}

}  // namespace peercoll::ascend
