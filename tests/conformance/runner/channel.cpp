// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/runner/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace peercoll::conformance {

namespace {

// A process that is this late is stuck: no step of a behaviour takes longer than making a context.
constexpr int silence_limit_ms = 40'000;

using Word = std::array<char, 64>;

Word word_of(std::string_view text) {
    Word word{};
    text.copy(word.data(), word.size() - 1);
    return word;
}

}  // namespace

void Descriptor::reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

std::pair<Channel, Channel> Channel::make_pair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error(std::string("socketpair failed: ") + std::strerror(errno));
    return {Channel(Descriptor(ends[0])), Channel(Descriptor(ends[1]))};
}

void Channel::say(std::string_view word) {
    send(word_of(word));
}

void Channel::hear(std::string_view word) {
    const Word heard = receive<Word>();
    if (heard != word_of(word))
        throw std::runtime_error("expected the other process to say '" + std::string(word) + "', it said '" +
                                 heard.data() + "'");
}

void Channel::send_descriptor(int fd) {
    const std::byte none{};
    send_bytes(std::span(&none, 1), fd);
}

Descriptor Channel::receive_descriptor() {
    std::byte none{};
    Descriptor fd = receive_bytes(std::span(&none, 1));
    if (fd.get() < 0) throw std::runtime_error("expected a descriptor from the other process, got none");
    return fd;
}

void Channel::hear_end() {
    wait_readable();
    char byte;
    if (recv(socket_.get(), &byte, 1, 0) > 0)
        throw std::runtime_error("expected the other process to end, it went on talking");
}

void Channel::wait_readable() {
    pollfd ready{socket_.get(), POLLIN, 0};
    int n;
    do n = poll(&ready, 1, silence_limit_ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0) throw OtherProcessLost("the other process said nothing for 40 s");
}

void Channel::send_bytes(std::span<const std::byte> bytes, int fd) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    if (sendmsg(socket_.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw OtherProcessLost(std::string("the other process does not listen: ") + std::strerror(errno));
}

Descriptor Channel::receive_bytes(std::span<std::byte> bytes) {
    wait_readable();
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) throw OtherProcessLost("the other process has ended");
    Descriptor fd;
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
        header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
        int received;
        std::memcpy(&received, CMSG_DATA(header), sizeof received);
        fd = Descriptor(received);
    }
    if (static_cast<std::size_t>(got) != bytes.size() || (message.msg_flags & MSG_TRUNC) != 0)
        throw std::runtime_error("expected a message of " + std::to_string(bytes.size()) + " bytes, got another size");
    return fd;
}

}  // namespace peercoll::conformance
