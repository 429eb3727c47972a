// SPDX-License-Identifier: BSD-3-Clause
// Status: how every fallible function inside answers. A code of the C ABI, and one sentence for the person running the
// job.
#pragma once

#include <peercoll/peercoll.h>

#include <string>
#include <utility>

namespace peercoll {

class [[nodiscard]] Status {
public:
    Status() = default;
    // `sentence` says what was wrong and what was expected.
    Status(peercoll_status_t code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}

    bool ok() const { return code_ == PEERCOLL_SUCCESS; }
    peercoll_status_t code() const { return code_; }
    const std::string& sentence() const { return sentence_; }

private:
    peercoll_status_t code_ = PEERCOLL_SUCCESS;
    std::string sentence_;
};

}  // namespace peercoll
