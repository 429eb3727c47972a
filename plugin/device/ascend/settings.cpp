// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/settings.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

Status read_word(const char* variable, std::string_view no, std::string_view yes, bool& value) {
    const char* const text = std::getenv(variable);
    const std::string_view word = text == nullptr ? no : std::string_view(text);
    value = word == yes;
    if (value || word == no) return {};
    return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("{} is \"{}\": expected {} or {}", variable, word, no, yes)};
}

}  // namespace

Status read_settings(Settings& settings) {
    Status status = read_word("PEERCOLL_ASCEND_POINTERS", "host", "device", settings.unreadable_is_device);
    if (!status.ok()) return status;
    return read_word("PEERCOLL_ASCEND_APPLICATION_MEMORY", "staged", "shared", settings.share_application_memory);
}

}  // namespace peercoll::ascend
