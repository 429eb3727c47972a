// SPDX-License-Identifier: BSD-3-Clause
// Status: how every fallible function inside answers. A code of the C ABI, and one sentence for the person running the
// job.
#pragma once

#include <peercoll/peercoll.h>

#include <memory>
#include <string>
#include <utility>

namespace peercoll {

class [[nodiscard]] Status {
public:
    Status() = default;
    // `sentence` says what was wrong and what was expected.
    Status(peercoll_status_t code, std::string sentence)
        : code_(code), sentence_(std::make_shared<const std::string>(std::move(sentence))) {}

    bool ok() const { return code_ == PEERCOLL_SUCCESS; }
    peercoll_status_t code() const { return code_; }
    const std::string& sentence() const {
        static const std::string none;
        return sentence_ ? *sentence_ : none;
    }

private:
    peercoll_status_t code_ = PEERCOLL_SUCCESS;
    std::shared_ptr<const std::string> sentence_;  // null if ok, so that success costs nothing
};

}  // namespace peercoll
