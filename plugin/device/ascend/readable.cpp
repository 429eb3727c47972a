// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/readable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace peercoll::ascend {

bool is_readable(const void* address) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return true;
    const bool fault = ::write(ends[1], address, 1) < 0 && errno == EFAULT;
    ::close(ends[0]);
    ::close(ends[1]);
    return !fault;
}

}  // namespace peercoll::ascend
