// SPDX-License-Identifier: BSD-3-Clause
// What every function of the C ABI stands in: nothing is thrown through it, a caller's struct is read as far as it
// goes, and a failure leaves its sentence for last_error().
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/runtime/last_error.hpp"

#include <peercoll/peercoll.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

namespace peercoll::capi {

inline Status invalid(const char* sentence) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT, sentence};
}

// Runs `body`, which gives a Status, with everything it may throw turned into one.
template <typename Body>
peercoll_status_t guarded(Body&& body) noexcept {
    try {
        const Status status = body();
        if (!status.ok()) set_last_error(status.sentence());
        return status.code();
    } catch (const std::bad_alloc&) {
        set_last_error("out of memory");
        return PEERCOLL_ERR_OUT_OF_MEMORY;
    } catch (const std::exception& fault) {
        set_last_error(fault.what());
        return PEERCOLL_ERR_INTERNAL;
    }
}

// What a caller's struct has of this version's members, the rest zero; nothing if it lacks what the first version had
// to have. The caller's struct may end earlier than ours, so nothing behind its size is read.
template <typename Params>
std::optional<Params> known_part(const Params* given, std::size_t least) {
    if (given->struct_size < least) return std::nullopt;
    Params known{};
    std::memcpy(&known, given, std::min(given->struct_size, sizeof known));
    return known;
}

}  // namespace peercoll::capi
