// SPDX-License-Identifier: BSD-3-Clause
// Descriptors between forked processes.
#include "plugin/peer/descriptor_channel.hpp"

#include "tests/support/leftovers.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>

namespace peercoll {
namespace {

using test::Rank;
using test::run_ranks;

OwnedDescriptor file_with(const std::string& text) {
    OwnedDescriptor file(memfd_create("test", MFD_CLOEXEC));
    EXPECT_EQ(write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return file;
}

std::string text_of(const OwnedDescriptor& file) {
    std::string text(100, '\0');
    const ssize_t n = pread(file.get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
}

std::unique_ptr<DescriptorChannel> open_channel() {
    std::unique_ptr<DescriptorChannel> channel;
    const Status status = DescriptorChannel::open(channel);
    EXPECT_TRUE(status.ok()) << status.sentence();
    return channel;
}

struct Ends {
    std::unique_ptr<DescriptorChannel> channel = open_channel();
    std::vector<DescriptorChannel::Address> addresses;
    std::vector<ProcessIdentity> identities;
    explicit Ends(Rank& rank)
        : addresses(test::gather(rank.exchange(0), channel->address())),
          identities(test::gather(rank.exchange(1), ProcessIdentity::of_this_process())) {}
};

TEST(DescriptorChannel, BringsADescriptorToAnotherProcess) {
    run_ranks(2, [](Rank& rank) {
        const Ends ends(rank);
        if (rank.rank() == 0) {
            EXPECT_TRUE(ends.channel->send(ends.addresses[1], 77, file_with("seven").get()).ok());
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() == 0) return;
        EXPECT_FALSE(ends.channel->take(76, ends.identities[0])) << "another tag";
        const OwnedDescriptor got = ends.channel->take(77, ends.identities[0]);
        ASSERT_TRUE(got);
        EXPECT_EQ(text_of(got), "seven");
        EXPECT_NE(fcntl(got.get(), F_GETFD) & FD_CLOEXEC, 0);
        EXPECT_FALSE(ends.channel->take(77, ends.identities[0])) << "once";
    });
}

TEST(DescriptorChannel, HandsThemOutInAnyOrder) {
    run_ranks(2, [](Rank& rank) {
        const Ends ends(rank);
        constexpr std::uint64_t n = 10;  // as many as the system lets wait in a socket
        if (rank.rank() == 0)
            for (std::uint64_t tag = 1; tag <= n; ++tag) {
                EXPECT_TRUE(ends.channel->send(ends.addresses[1], tag, file_with(std::to_string(tag)).get()).ok());
            }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() == 0) return;
        for (std::uint64_t tag = n; tag >= 1; --tag)
            EXPECT_EQ(text_of(ends.channel->take(tag, ends.identities[0])), std::to_string(tag));
        EXPECT_EQ(ends.channel->counters().taken, n);
    });
}

TEST(DescriptorChannel, ThrowsAwayWhatAnotherProcessThanTheOwnerSent) {
    run_ranks(3, [](Rank& rank) {
        const Ends ends(rank);
        if (rank.rank() == 2) {
            EXPECT_TRUE(ends.channel->send(ends.addresses[1], 5, file_with("wrong").get()).ok());
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() == 0) {
            EXPECT_TRUE(ends.channel->send(ends.addresses[1], 5, file_with("right").get()).ok());
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() != 1) return;
        EXPECT_EQ(text_of(ends.channel->take(5, ends.identities[0])), "right");
        EXPECT_EQ(ends.channel->counters().unexpected, 1U);
    });
}

TEST(DescriptorChannel, NeverBlocksAndSaysWhenTheQueueIsFull) {
    run_ranks(2, [](Rank& rank) {
        const Ends ends(rank);
        if (rank.rank() == 0) {
            const OwnedDescriptor file = file_with("x");
            Status status;
            for (int i = 0; i < 100'000 && status.ok(); ++i)
                status = ends.channel->send(ends.addresses[1], 1, file.get());
            EXPECT_EQ(status.code(), PEERCOLL_ERR_BUSY);
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() == 1) {
            EXPECT_TRUE(ends.channel->take(1, ends.identities[0]));
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        if (rank.rank() == 0) {
            EXPECT_TRUE(ends.channel->send(ends.addresses[1], 2, file_with("y").get()).ok());
        }
    });
}

TEST(DescriptorChannel, KeepsABoundedNumberOfMessagesThatNobodyTakes) {
    run_ranks(2, [](Rank& rank) {
        const Ends ends(rank);
        constexpr int n = static_cast<int>(DescriptorChannel::most_waiting) + 20;
        const std::size_t before = test::descriptors_of_this_process().size();
        for (int i = 0; i < n; ++i) {
            if (rank.rank() == 0) {
                EXPECT_TRUE(
                    ends.channel->send(ends.addresses[1], 1000 + static_cast<std::uint64_t>(i), file_with("x").get())
                        .ok());
            }
            EXPECT_TRUE(rank.exchange(2).meet());
            if (rank.rank() == 1) {
                EXPECT_FALSE(ends.channel->take(1, ends.identities[0]));
            }
            EXPECT_TRUE(rank.exchange(2).meet());
        }
        if (rank.rank() == 0) return;
        EXPECT_EQ(test::descriptors_of_this_process().size(), before + DescriptorChannel::most_waiting);
        EXPECT_EQ(ends.channel->counters().dropped, 20U);
        EXPECT_FALSE(ends.channel->take(1000, ends.identities[0])) << "the oldest was dropped";
        EXPECT_TRUE(ends.channel->take(1000 + n - 1, ends.identities[0]));
    });
}

TEST(DescriptorChannel, ClosesAndCountsWhatItDoesNotUnderstand) {
    const std::unique_ptr<DescriptorChannel> channel = open_channel();
    const std::set<int> before = test::descriptors_of_this_process();
    const OwnedDescriptor stranger(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, channel->address().data(), channel->address().size());
    const socklen_t length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + channel->address().size());
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{16}, std::size_t{1000}}) {
        const std::string text(bytes, 'x');
        EXPECT_EQ(sendto(stranger.get(), text.data(), bytes, 0, reinterpret_cast<sockaddr*>(&to), length),
                  static_cast<ssize_t>(bytes));
    }
    // Several descriptors with one message, well formed but for that.
    std::uint64_t words[2] = {0x3163647363'6f6cU, 9};
    iovec part{words, sizeof words};
    alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))]{};
    msghdr message{};
    message.msg_name = &to;
    message.msg_namelen = length;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(3 * sizeof(int));
    const int three[3] = {0, 1, 2};
    std::memcpy(CMSG_DATA(header), three, sizeof three);
    EXPECT_EQ(sendmsg(stranger.get(), &message, 0), static_cast<ssize_t>(sizeof words));
    EXPECT_FALSE(channel->take(9, ProcessIdentity::of_this_process()));
    EXPECT_EQ(channel->counters().unexpected, 5U);
    std::set<int> after = test::descriptors_of_this_process();
    after.erase(stranger.get());
    EXPECT_EQ(after, before);
}

TEST(DescriptorChannel, SaysThatAPeerIsGoneOrHasNone) {
    const std::unique_ptr<DescriptorChannel> channel = open_channel();
    DescriptorChannel::Address gone{};
    gone = open_channel()->address();
    const OwnedDescriptor file = file_with("x");
    EXPECT_EQ(channel->send(gone, 1, file.get()).code(), PEERCOLL_ERR_SYSTEM);
    EXPECT_EQ(channel->send({}, 1, file.get()).code(), PEERCOLL_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(channel->counters().sent, 0U);
}

TEST(DescriptorChannel, AddressesCannotBeGuessed) {
    std::set<DescriptorChannel::Address> seen;
    for (int i = 0; i < 20; ++i) seen.insert(open_channel()->address());
    EXPECT_EQ(seen.size(), 20U);
}

}  // namespace
}  // namespace peercoll
