// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/descriptor_channel.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>

#include <fmt/format.h>

namespace peercoll {

namespace {

struct Datagram {
    std::uint64_t magic;
    std::uint64_t tag;
};
constexpr std::uint64_t magic = 0x31636473'6c6c6f63;

// Room for more descriptors than are expected, so that a surplus is seen (and closed) instead of cut off.
constexpr std::size_t most_descriptors = 8;
struct Control {
    alignas(cmsghdr) char bytes[CMSG_SPACE(most_descriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
};

// An abstract name: a NUL, then text.
DescriptorChannel::Address make_address() {
    std::random_device random;
    const std::string text =
        fmt::format("peercoll-{:08x}{:08x}{:04x}", random(), random(), static_cast<std::uint16_t>(random()));
    DescriptorChannel::Address address{};
    std::copy_n(text.begin(), std::min(text.size(), address.size() - 1), address.begin() + 1);
    return address;
}

socklen_t fill(sockaddr_un& where, const DescriptorChannel::Address& address) {
    where = {};
    where.sun_family = AF_UNIX;
    std::copy(address.begin(), address.end(), where.sun_path);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
}

Status system_error(const char* what) {
    return {PEERCOLL_ERR_SYSTEM, fmt::format("{} (errno {})", what, errno)};
}

}  // namespace

Status DescriptorChannel::open(std::unique_ptr<DescriptorChannel>& channel) {
    OwnedDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return system_error("no Unix socket could be made for descriptors of device memory");
    const int on = 1;
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return system_error("a Unix socket does not tell who sends");
    const Address address = make_address();
    sockaddr_un name{};
    const socklen_t length = fill(name, address);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0)
        return system_error("a Unix socket could not be given a name");
    channel = std::make_unique<DescriptorChannel>(std::move(socket), address);
    return {};
}

Status DescriptorChannel::send(const Address& to, std::uint64_t tag, int fd) {
    if (to[0] != '\0' || to[1] == '\0')
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "the peer told no address for descriptors of device memory"};
    sockaddr_un name{};
    Datagram datagram{magic, tag};
    iovec part{&datagram, sizeof datagram};
    Control control{};
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = fill(name, to);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof fd);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    // Credentials are added by the kernel, since the receiver has asked for them.
    ssize_t sent = 0;
    do sent = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS))
        return {PEERCOLL_ERR_BUSY, "the peer has not yet taken the descriptors that were sent before"};
    if (sent < 0) return system_error("a descriptor of device memory could not be sent to a peer");
    const std::lock_guard lock(mutex_);
    ++counters_.sent;
    return {};
}

// False if there is nothing to receive.
bool DescriptorChannel::receive_one() {
    Datagram datagram{};
    iovec part{&datagram, sizeof datagram};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return errno == EINTR;
    ucred sender{};
    std::size_t descriptors = 0;
    Message received;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET) continue;
        if (header->cmsg_type == SCM_CREDENTIALS) std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
        if (header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < n; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            received.fd = OwnedDescriptor(fd);
            ++descriptors;
        }
    }
    const bool whole = got == static_cast<ssize_t>(sizeof datagram) && (message.msg_flags & MSG_TRUNC) == 0;
    if (!whole || datagram.magic != magic || descriptors != 1 || sender.uid != self_.uid) {
        ++counters_.unexpected;
        return true;
    }
    received.tag = datagram.tag;
    received.pid = sender.pid;
    if (waiting_.size() >= most_waiting) {
        waiting_.pop_front();
        ++counters_.dropped;
    }
    waiting_.push_back(std::move(received));
    return true;
}

void DescriptorChannel::receive_all() {
    // Bounded: a peer that sends without end does not keep this process here.
    for (std::size_t i = 0; i < 4 * most_waiting && receive_one(); ++i) {
    }
}

OwnedDescriptor DescriptorChannel::take(std::uint64_t tag, const ProcessIdentity& owner) {
    const std::lock_guard lock(mutex_);
    receive_all();
    OwnedDescriptor found;
    // The pid that the kernel tells is the sender's as seen from here, which in another pid namespace is not its own.
    const bool pid_known = owner.pid_namespace == self_.pid_namespace;
    for (auto message = waiting_.begin(); message != waiting_.end() && !found;) {
        const auto here = message++;
        if (here->tag != tag) continue;
        if (owner.uid == self_.uid && (!pid_known || here->pid == owner.pid)) {
            found = std::move(here->fd);
            ++counters_.taken;
        } else {
            ++counters_.unexpected;
        }
        waiting_.erase(here);
    }
    return found;
}

DescriptorChannel::Counters DescriptorChannel::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

}  // namespace peercoll
