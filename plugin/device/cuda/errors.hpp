// SPDX-License-Identifier: BSD-3-Clause
// A CUDA error as a Status, and a Status as the interface of devices answers.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/cuda/driver_api.hpp"

#include <peercoll/device.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace peercoll::cuda {

// "CUDA_ERROR_INVALID_VALUE (1)", as the driver names it.
std::string error_name(const DriverFunctions& driver, CuResult error);
peercoll_status_t status_of(CuResult error);
// `what` failed with `error`: "opening another process's allocation: CUDA_ERROR_MAP_FAILED (205), `advice`".
Status driver_error(const DriverFunctions& driver, CuResult error, std::string_view what, std::string_view advice = {});

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

// The same for functions that have no way to tell.
template <typename Work>
void quietly(Work work) noexcept {
    answer(nullptr, [&] {
        work();
        return Status();
    });
}

}  // namespace peercoll::cuda
