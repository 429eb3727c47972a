// SPDX-License-Identifier: BSD-3-Clause
// DescriptorChannel: file descriptors of device memory, sent from process to process of one user on one host. A Unix
// datagram socket with an unguessable abstract name; the kernel tells who sent a message. Never blocks. One per
// process; thread safe.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/identity.hpp"
#include "plugin/peer/owned_descriptor.hpp"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace peercoll {

class DescriptorChannel {
public:
    static constexpr std::size_t most_waiting = 64;

    // The socket's name, to be exchanged as bytes; all zeros: none.
    using Address = std::array<char, 32>;

    struct Counters {
        std::uint64_t sent = 0;
        std::uint64_t taken = 0;
        std::uint64_t unexpected = 0;  // messages that no one of this job would send; closed
        std::uint64_t dropped = 0;     // waited for somebody to take them, until there were too many
    };

    static Status open(std::unique_ptr<DescriptorChannel>& channel);
    // Of a bound socket; open() makes it.
    DescriptorChannel(OwnedDescriptor socket, const Address& address)
        : socket_(std::move(socket)), address_(address), self_(ProcessIdentity::of_this_process()) {}
    DescriptorChannel(const DescriptorChannel&) = delete;
    DescriptorChannel& operator=(const DescriptorChannel&) = delete;

    const Address& address() const { return address_; }

    // The receiver gets a descriptor of its own; `fd` stays the caller's. PEERCOLL_ERR_BUSY: its queue is full, try
    // again.
    Status send(const Address& to, std::uint64_t tag, int fd);

    // The descriptor that `owner` sent with `tag`, if it has arrived. A message with this tag from somebody else is
    // thrown away.
    OwnedDescriptor take(std::uint64_t tag, const ProcessIdentity& owner);

    Counters counters() const;

private:
    struct Message {
        std::uint64_t tag = 0;
        pid_t pid = 0;
        OwnedDescriptor fd;
    };

    void receive_all();
    bool receive_one();

    mutable std::mutex mutex_;
    const OwnedDescriptor socket_;
    const Address address_;
    const ProcessIdentity self_;
    std::list<Message> waiting_;  // the oldest first
    Counters counters_;
};

}  // namespace peercoll
