// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/errors.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

struct Meaning {
    AclError error;
    peercoll_status_t status;
    const char* text;
};

// Where the driver refuses, the number depends on its version: what is not listed is a failure of the system.
constexpr std::array meanings = {
    Meaning{code::invalid_param, PEERCOLL_ERR_INVALID_ARGUMENT, "an argument is not accepted"},
    Meaning{code::rt_param_invalid, PEERCOLL_ERR_INVALID_ARGUMENT, "an argument is not accepted"},
    Meaning{code::uninitialized, PEERCOLL_ERR_NOT_SUPPORTED, "ACL is not initialised"},
    Meaning{code::repeat_finalize, PEERCOLL_ERR_NOT_SUPPORTED, "ACL was finalised"},
    Meaning{code::compiling_stub_mode, PEERCOLL_ERR_NOT_SUPPORTED, "this is the stub library of CANN's devlib"},
    Meaning{code::bad_alloc, PEERCOLL_ERR_OUT_OF_MEMORY, "out of memory"},
    Meaning{code::rt_memory_allocation, PEERCOLL_ERR_OUT_OF_MEMORY, "out of memory"},
    Meaning{code::rt_device_out_of_memory, PEERCOLL_ERR_OUT_OF_MEMORY, "the device is out of memory"},
    Meaning{code::invalid_device, PEERCOLL_ERR_INVALID_ARGUMENT, "there is no such device"},
    Meaning{code::rt_invalid_device, PEERCOLL_ERR_INVALID_ARGUMENT, "there is no such device"},
    Meaning{code::rt_no_device, PEERCOLL_ERR_NOT_SUPPORTED, "there is no device"},
    Meaning{code::rt_context_null, PEERCOLL_ERR_SYSTEM, "no device was chosen on this thread"},
    Meaning{code::rt_stream_context, PEERCOLL_ERR_SYSTEM, "the stream is another device's"},
    Meaning{code::api_not_support, PEERCOLL_ERR_NOT_SUPPORTED, "not supported here"},
    Meaning{code::feature_unsupported, PEERCOLL_ERR_NOT_SUPPORTED, "not supported here"},
    Meaning{code::rt_feature_not_support, PEERCOLL_ERR_NOT_SUPPORTED, "not supported by this device or driver"},
    Meaning{code::rt_no_permission, PEERCOLL_ERR_NOT_SUPPORTED, "not permitted"},
};

const Meaning* meaning_of(AclError error) {
    const auto* const found =
        std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& one) { return one.error == error; });
    return found == meanings.end() ? nullptr : found;
}

}  // namespace

std::string error_name(AclError error) {
    const Meaning* const meaning = meaning_of(error);
    return meaning == nullptr ? fmt::format("ACL error {}", error)
                              : fmt::format("ACL error {} ({})", error, meaning->text);
}

peercoll_status_t status_of(AclError error) {
    if (error == code::success) return PEERCOLL_SUCCESS;
    const Meaning* const meaning = meaning_of(error);
    return meaning == nullptr ? PEERCOLL_ERR_SYSTEM : meaning->status;
}

Status acl_error(const AclFunctions& acl, AclError error, std::string_view what, std::string_view advice) {
    std::string sentence = fmt::format("{}: {}", what, error_name(error));
    if (!advice.empty()) sentence += fmt::format(", {}", advice);
    // Several lines; the first says what is meant.
    const char* const message = acl.get_recent_message == nullptr ? nullptr : acl.get_recent_message();
    if (message != nullptr) {
        const std::string_view text(message);
        if (const std::string_view line = text.substr(0, text.find('\n')); !line.empty())
            sentence += fmt::format("; ACL says: {}", line);
    }
    return {status_of(error), std::move(sentence)};
}

void say(peercoll_reason_t* reason, std::string_view sentence) noexcept {
    if (reason == nullptr) return;
    const std::size_t length = std::min(sentence.size(), sizeof reason->text - 1);
    std::copy_n(sentence.data(), length, reason->text);
    reason->text[length] = '\0';
}

}  // namespace peercoll::ascend
