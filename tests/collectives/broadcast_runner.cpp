// SPDX-License-Identifier: BSD-3-Clause
#include "tests/collectives/broadcast_runner.hpp"

#include "tests/collectives/message_sizes.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace peercoll::test {

const std::vector<std::byte>& broadcast_pattern() {
    static const std::vector<std::byte> pattern = [] {
        std::vector<std::byte> made(largest_message + BroadcastRunner::most_start);
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = static_cast<std::byte>(mixed(i) >> 56);
        }
        return made;
    }();
    return pattern;
}

bool BroadcastRunner::run(std::size_t bytes, int root, std::size_t start, std::size_t offset) {
    const std::byte* message = broadcast_pattern().data() + start;
    std::byte* buffer = buffer_.place(bytes, offset);
    ++calls_;
    if (rank_ == root) {
        std::memcpy(buffer, message, bytes);
    } else {
        std::memset(buffer, 0x5A, bytes);
    }
    const auto describe = [&] {
        return testing::Message() << bytes << " bytes from root " << root << ", buffer at offset " << offset
                                  << ", call " << calls_;
    };
    const peercoll_status_t status = plugin.broadcast(buffer, bytes, root, comm_);
    if (status != PEERCOLL_SUCCESS) {
        ADD_FAILURE() << describe() << ": " << succeeded(status).message();
        return false;
    }
    if (std::memcmp(buffer, message, bytes) != 0) {
        const auto wrong = std::mismatch(buffer, buffer + bytes, message).first - buffer;
        ADD_FAILURE() << describe() << ": byte " << wrong << (rank_ == root ? " of the root's own buffer" : "")
                      << " is wrong";
        return false;
    }
    if (!buffer_.guards_are_whole()) {
        ADD_FAILURE() << describe() << ": bytes outside the buffer were written";
        return false;
    }
    return true;
}

}  // namespace peercoll::test
