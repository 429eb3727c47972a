// SPDX-License-Identifier: BSD-3-Clause
// How every failure of this program travels: one sentence for whoever runs it.
#pragma once

#include <peercoll/device.h>

#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace peercoll::peer_copy {

class Failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws Failure, `what` and the runtime's own sentence, unless `status` is success.
inline void require(peercoll_status_t status, const peercoll_reason_t& reason, const std::string& what) {
    if (status != PEERCOLL_SUCCESS) throw Failure(fmt::format("{}: {} (status {})", what, reason.text, status));
}

}  // namespace peercoll::peer_copy
