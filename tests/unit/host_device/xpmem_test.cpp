// SPDX-License-Identifier: BSD-3-Clause
// The XPMEM path of the host device, over a library without its kernel module (fake_xpmem.hpp). Rank 0 owns memory that
// rank 1 reads and writes by its address in rank 0.
#include "plugin/device/host/host_device.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"
#include "tests/unit/host_device/fake_xpmem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t window = 16 * MiB;
constexpr std::uint32_t xpmem_bit = 1U << PEERCOLL_ACCESS_XPMEM;

// Sparse memory whose pages are in a file, mapped before the ranks are forked.
class SharedMemory {
public:
    explicit SharedMemory(std::size_t bytes) : fd_(memfd_create("test", MFD_CLOEXEC)), bytes_(bytes) {
        if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return;
        address_ =
            static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0));
        fake_xpmem_share(address_, bytes, fd_);
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory() {
        munmap(address_, bytes_);
        close(fd_);
    }
    std::byte* data() const { return address_; }
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }
    // The first byte of the memory that begins a window.
    std::size_t first_window() const { return (window - address() % window) % window; }

private:
    int fd_;
    std::size_t bytes_;
    std::byte* address_ = nullptr;
};

// Rank 1 runs `look` with rank 0's memory opened by XPMEM; afterwards nothing may be attached.
void with_peer(const std::function<void(peercoll_access_t)>& look) {
    run_ranks(2, [&](Rank& rank) {
        peercoll_access_token_t token{};
        peercoll_reason_t reason{};
        ASSERT_EQ(host_device().access_export(&token, &reason), PEERCOLL_SUCCESS);
        EXPECT_NE(token.kinds & xpmem_bit, 0U) << reason.text;
        EXPECT_EQ(token.xpmem_segment >> 16, getpid()) << "each rank offers its own memory";
        const auto tokens = gather(rank.exchange(0), token);
        if (rank.rank() == 1) {
            peercoll_access_t access = nullptr;
            ASSERT_EQ(host_device().access_open(&tokens[0], PEERCOLL_ACCESS_XPMEM, &access, &reason), PEERCOLL_SUCCESS)
                << reason.text;
            look(access);
            host_device().access_close(access);
            const FakeXpmemCounts counts = fake_xpmem_counts();
            EXPECT_EQ(counts.attached, 0) << "windows were left attached";
            EXPECT_EQ(counts.permits, 0);
            EXPECT_EQ(counts.attached_permits, 0) << "a permit went before its windows";
            EXPECT_EQ(counts.wrong_calls, 0);
        }
        EXPECT_TRUE(rank.exchange(1).meet());
    });
}

std::vector<std::byte> pattern(std::size_t bytes, int seed) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 37 + static_cast<std::size_t>(seed));
    return data;
}

TEST(Xpmem, CopiesInBothDirections) {
    const SharedMemory memory(window);
    const std::vector<std::byte> theirs = pattern(100'000, 1);
    const std::vector<std::byte> mine = pattern(5'000, 2);
    std::memcpy(memory.data() + 77, theirs.data(), theirs.size());
    with_peer([&](peercoll_access_t access) {
        std::vector<std::byte> here(theirs.size());
        EXPECT_EQ(host_device().access_read(access, memory.address() + 77, here.data(), here.size()), 0);
        EXPECT_EQ(here, theirs);
        EXPECT_EQ(host_device().access_write(access, memory.address() + 1077, mine.data(), mine.size()), 0);
    });
    std::vector<std::byte> expected = theirs;
    std::memcpy(expected.data() + 1000, mine.data(), mine.size());
    EXPECT_EQ(std::memcmp(memory.data() + 77, expected.data(), expected.size()), 0)
        << "the owner sees what was written";
}

TEST(Xpmem, CopiesAcrossWindows) {
    const SharedMemory memory(4 * window);
    const std::size_t at = memory.first_window() + window - 3000;  // the end of one window, and beyond the next
    const std::vector<std::byte> theirs = pattern(window + 6000, 3);
    std::memcpy(memory.data() + at, theirs.data(), theirs.size());
    with_peer([&](peercoll_access_t access) {
        std::vector<std::byte> here(theirs.size());
        EXPECT_EQ(host_device().access_read(access, memory.address() + at, here.data(), here.size()), 0);
        EXPECT_TRUE(here == theirs);
        EXPECT_EQ(fake_xpmem_counts().attach_calls, 3);
    });
}

TEST(Xpmem, AttachesAWindowOnceForManyCopies) {
    const SharedMemory memory(4 * window);
    with_peer([&](peercoll_access_t access) {
        const std::uint64_t begin = memory.address() + memory.first_window();
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < 1000; ++i)
            EXPECT_EQ(host_device().access_read(access, begin + (i % 2) * window + 8 * i, &word, sizeof word), 0);
        EXPECT_EQ(fake_xpmem_counts().attach_calls, 2);
        EXPECT_EQ(fake_xpmem_counts().attached, 2) << "kept for the next time";
    });
}

TEST(Xpmem, SeesWhatTheOwnerWritesLater) {
    const SharedMemory memory(window);
    with_peer([&](peercoll_access_t access) {
        for (const int value : {5, 6}) {
            memory.data()[9] = static_cast<std::byte>(value);  // the same page as the owner's
            std::byte here{};
            EXPECT_EQ(host_device().access_read(access, memory.address() + 9, &here, 1), 0);
            EXPECT_EQ(here, static_cast<std::byte>(value));
        }
    });
}

TEST(Xpmem, KeepsABoundedNumberOfWindowsHoweverMuchIsCopied) {
    constexpr std::size_t windows = 80;
    const SharedMemory memory(windows * window);
    for (std::size_t i = 0; i < windows; ++i) memory.data()[i * window] = static_cast<std::byte>(i + 1);
    with_peer([&](peercoll_access_t access) {
        for (int round = 0; round < 3; ++round)
            for (std::size_t i = 0; i < windows; ++i) {
                const std::size_t at = round == 1 ? windows - 1 - i : i;
                std::byte here{};
                ASSERT_EQ(host_device().access_read(access, memory.address() + at * window, &here, 1), 0);
                ASSERT_EQ(here, static_cast<std::byte>(at + 1));
            }
        EXPECT_LE(fake_xpmem_counts().most_attached, 64);
    });
}

TEST(Xpmem, SaysSoWhenAWindowCannotBeAttached) {
    const SharedMemory memory(window);
    with_peer([&](peercoll_access_t access) {
        std::uint64_t word = 0;
        EXPECT_NE(host_device().access_read(access, memory.address() + 100 * window, &word, sizeof word), 0);
        EXPECT_NE(host_device().access_write(access, memory.address() + 100 * window, &word, sizeof word), 0);
        EXPECT_EQ(host_device().access_read(access, memory.address(), &word, sizeof word), 0) << "and goes on";
    });
}

TEST(Xpmem, CopiesNothingFromAnywhere) {
    const SharedMemory memory(window);
    with_peer([&](peercoll_access_t access) {
        std::byte here{7};
        EXPECT_EQ(host_device().access_read(access, 8, &here, 0), 0);
        EXPECT_EQ(here, std::byte{7});
        EXPECT_EQ(fake_xpmem_counts().attach_calls, 0);
    });
}

TEST(Xpmem, RefusesASegmentThatNobodyMade) {
    run_ranks(1, [](Rank&) {
        peercoll_access_token_t token{};
        peercoll_reason_t reason{};
        ASSERT_EQ(host_device().access_export(&token, &reason), PEERCOLL_SUCCESS);
        token.xpmem_segment = -5;
        peercoll_access_t access = nullptr;
        EXPECT_NE(host_device().access_open(&token, PEERCOLL_ACCESS_XPMEM, &access, &reason), PEERCOLL_SUCCESS);
        EXPECT_EQ(access, nullptr);
        EXPECT_THAT(reason.text, testing::HasSubstr("xpmem_get"));
    });
}

TEST(Xpmem, AForkedChildOffersItsOwnMemoryAndNotItsParents) {
    peercoll_access_token_t mine{};
    ASSERT_EQ(host_device().access_export(&mine, nullptr), PEERCOLL_SUCCESS);
    const pid_t child = fork();
    if (child == 0) {
        peercoll_access_token_t its{};
        const bool exported = host_device().access_export(&its, nullptr) == PEERCOLL_SUCCESS;
        _exit(exported && its.pid == getpid() && its.xpmem_segment != mine.xpmem_segment ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Xpmem, IsNotOfferedWithoutItsModule) {
    run_ranks(1, [](Rank&) {
        fake_xpmem_unload_module();
        peercoll_access_token_t token{};
        peercoll_reason_t reason{};
        EXPECT_EQ(host_device().access_export(&token, &reason), PEERCOLL_SUCCESS);
        EXPECT_EQ(token.kinds, 1U << PEERCOLL_ACCESS_CMA) << "the other way is still there";
        EXPECT_THAT(reason.text, testing::HasSubstr("module"));
    });
}

}  // namespace
}  // namespace peercoll::test
