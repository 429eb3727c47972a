// SPDX-License-Identifier: BSD-3-Clause
// A HIP error as a Status, and a Status as the interface of devices answers.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_api.hpp"

#include <peercoll/device.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace peercoll::hip {

// "hipErrorInvalidValue (1)", as the runtime names it.
std::string error_name(const HipFunctions& hip, HipError error);
peercoll_status_t status_of(HipError error);
// `what` failed with `error`: "mapping another process's memory: hipErrorInvalidValue (1), `advice`".
Status hip_error(const HipFunctions& hip, HipError error, std::string_view what, std::string_view advice = {});

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

}  // namespace peercoll::hip
