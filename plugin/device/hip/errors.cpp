// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/errors.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll::hip {

std::string error_name(const HipFunctions& hip, HipError error) {
    const char* const name = hip.get_error_name == nullptr ? nullptr : hip.get_error_name(error);
    if (name == nullptr) return fmt::format("a HIP error without a name ({})", error);
    return fmt::format("{} ({})", name, error);
}

peercoll_status_t status_of(HipError error) {
    switch (error) {
        case code::success:
            return PEERCOLL_SUCCESS;
        case code::invalid_value:
        case code::invalid_device_pointer:
        case code::invalid_device:
            return PEERCOLL_ERR_INVALID_ARGUMENT;
        case code::out_of_memory:
            return PEERCOLL_ERR_OUT_OF_MEMORY;
        case code::not_ready:
            return PEERCOLL_ERR_BUSY;
        case code::no_device:
        case code::no_binary_for_gpu:
        case code::peer_access_unsupported:
        case code::not_supported:
            return PEERCOLL_ERR_NOT_SUPPORTED;
        default:
            return PEERCOLL_ERR_SYSTEM;
    }
}

Status hip_error(const HipFunctions& hip, HipError error, std::string_view what, std::string_view advice) {
    std::string sentence = fmt::format("{}: {}", what, error_name(hip, error));
    if (!advice.empty()) sentence += fmt::format(", {}", advice);
    return {status_of(error), std::move(sentence)};
}

void say(peercoll_reason_t* reason, std::string_view sentence) noexcept {
    if (reason == nullptr) return;
    const std::size_t length = std::min(sentence.size(), sizeof reason->text - 1);
    std::copy_n(sentence.data(), length, reason->text);
    reason->text[length] = '\0';
}

}  // namespace peercoll::hip
