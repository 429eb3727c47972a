// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/errors.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll::cuda {

std::string error_name(const DriverFunctions& driver, CuResult error) {
    const char* name = nullptr;
    if (driver.get_error_name == nullptr || driver.get_error_name(error, &name) != code::success || name == nullptr)
        return fmt::format("a CUDA error without a name ({})", error);
    return fmt::format("{} ({})", name, error);
}

peercoll_status_t status_of(CuResult error) {
    switch (error) {
        case code::success:
            return PEERCOLL_SUCCESS;
        case code::invalid_value:
        case code::invalid_device:
            return PEERCOLL_ERR_INVALID_ARGUMENT;
        case code::out_of_memory:
            return PEERCOLL_ERR_OUT_OF_MEMORY;
        case code::not_ready:
        case code::already_mapped:
            return PEERCOLL_ERR_BUSY;
        case code::stub_library:
        case code::no_device:
        case code::peer_access_unsupported:
        case code::too_many_peers:
        case code::not_permitted:
        case code::not_supported:
            return PEERCOLL_ERR_NOT_SUPPORTED;
        default:
            return PEERCOLL_ERR_SYSTEM;
    }
}

Status driver_error(const DriverFunctions& driver, CuResult error, std::string_view what, std::string_view advice) {
    std::string sentence = fmt::format("{}: {}", what, error_name(driver, error));
    if (!advice.empty()) sentence += fmt::format(", {}", advice);
    return {status_of(error), std::move(sentence)};
}

void say(peercoll_reason_t* reason, std::string_view sentence) noexcept {
    if (reason == nullptr) return;
    const std::size_t length = std::min(sentence.size(), sizeof reason->text - 1);
    std::copy_n(sentence.data(), length, reason->text);
    reason->text[length] = '\0';
}

}  // namespace peercoll::cuda
