// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/device_broadcast_runner.hpp"

#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/guarded_region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace peercoll::test {

bool DeviceBroadcastRunner::run(std::size_t bytes, int root) {
    const std::uint64_t seed = mixed(calls_);  // the same on all ranks, another in each call
    std::vector<std::byte> message(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        message[i] = static_cast<std::byte>((seed + i * 0x9e3779b97f4a7c15U) >> 56);
    }
    const std::size_t offset = (calls_ * 11 + static_cast<std::uint64_t>(rank_) * 5) % 64;
    ++calls_;
    not_empty_ += bytes > 0 ? 1 : 0;
    GuardedRegion buffer(*memory_, GuardedRegion::guard_bytes + offset, bytes,
                         rank_ == root ? message.data() : nullptr);
    const auto describe = [&] {
        return testing::Message() << bytes << " bytes from root " << root << " in " << memory_->kind()
                                  << " memory at offset " << offset << ", call " << calls_;
    };
    const peercoll_status_t status = plugin.broadcast(buffer.address(), bytes, root, comm_);
    if (status != PEERCOLL_SUCCESS) {
        ADD_FAILURE() << describe() << ": " << succeeded(status).message();
        return false;
    }
    buffer.fetch();
    if (!std::equal(message.begin(), message.end(), buffer.content())) {
        const auto wrong = std::mismatch(message.begin(), message.end(), buffer.content()).first - message.begin();
        ADD_FAILURE() << describe() << ": byte " << wrong << (rank_ == root ? " of the root's own buffer" : "")
                      << " is wrong";
        return false;
    }
    if (!buffer.guards_are_whole()) {
        ADD_FAILURE() << describe() << ": bytes outside the buffer were written";
        return false;
    }
    return true;
}

}  // namespace peercoll::test
