// SPDX-License-Identifier: BSD-3-Clause
// HIP keeps an error for each thread until hipGetLastError() takes it. The application asks after its own calls, and
// must never find ours (704 for a peer that was enabled already, 1 for a pointer that HIP does not know), nor lose its
// own to ours: before ROCm 7 every call replaces what was there, even one that succeeds.
//
// Ours are taken before we return. An error of the application that is waiting there cannot be put back once a call of
// ours has replaced it, so while there is one our calls are made on a thread of their own. That is slow and rare: a
// program that has an error waiting when it calls MPI has a mistake.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_api.hpp"

#include <exception>
#include <thread>

namespace peercoll::hip {

// "Not ready" is an answer and no error; nobody misses it.
inline bool has_error_waiting(const HipFunctions& hip) {
    const HipError last = hip.peek_at_last_error();
    return last != code::success && last != code::not_ready;
}

// Runs `work`, which gives a Status and calls HIP.
template <typename Work>
Status keeping_last_error(const HipFunctions& hip, Work work) {
    if (has_error_waiting(hip)) {
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
    const struct Drain {
        const HipFunctions& hip;
        ~Drain() {
            if (hip.peek_at_last_error() != code::success) (void)hip.get_last_error();
        }
    } drain{hip};
    return work();
}

}  // namespace peercoll::hip
