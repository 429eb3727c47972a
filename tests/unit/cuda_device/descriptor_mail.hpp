// SPDX-License-Identifier: BSD-3-Clause
// A descriptor from one forked rank to another, over a socket pair made before they were forked.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace peercoll::test {

class DescriptorMail {
public:
    DescriptorMail() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
    ~DescriptorMail() {
        for (const int end : ends_) ::close(end);
    }
    DescriptorMail(const DescriptorMail&) = delete;
    DescriptorMail& operator=(const DescriptorMail&) = delete;

    void send(int fd) const {
        Message message;
        cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
        EXPECT_EQ(::sendmsg(ends_[0], &message.header, 0), 1);
    }
    // The caller closes it.
    int receive() const {
        Message message;
        int fd = -1;
        EXPECT_EQ(::recvmsg(ends_[1], &message.header, MSG_CMSG_CLOEXEC), 1);
        if (const cmsghdr* header = CMSG_FIRSTHDR(&message.header); header != nullptr)
            std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        return fd;
    }

private:
    struct Message {
        char byte = 'd';
        iovec part{&byte, 1};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        msghdr header{nullptr, 0, &part, 1, control.data(), control.size(), 0};
    };
    std::array<int, 2> ends_{-1, -1};
};

}  // namespace peercoll::test
