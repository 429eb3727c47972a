// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <peercoll/device.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace peercoll::host {

template <typename... Arguments>
void say(peercoll_reason_t* reason, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (reason == nullptr) return;
    const auto end =
        fmt::format_to_n(reason->text, sizeof reason->text - 1, text, std::forward<Arguments>(arguments)...);
    *end.out = '\0';
}

// "Operation not permitted (errno 1)"
inline std::string error_text(int error) {
    char buffer[128];
    return fmt::format("{} (errno {})", ::strerror_r(error, buffer, sizeof buffer), error);
}

}  // namespace peercoll::host
