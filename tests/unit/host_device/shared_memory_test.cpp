// SPDX-License-Identifier: BSD-3-Clause
// Shared segments of both kinds, in one process and in several, and handles that are not what they say.
#include "plugin/device/host/host_device.hpp"
#include "tests/support/leftovers.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace peercoll::test {
namespace {

constexpr peercoll_share_kind_t kinds[] = {PEERCOLL_SHARE_MEMFD, PEERCOLL_SHARE_SHM};
constexpr std::size_t size = 100'000;  // no multiple of a page

// A share that is released at the end.
struct Share {
    peercoll_share_t share{};
    peercoll_share_handle_t handle{};
    peercoll_reason_t reason{};

    Share() { share.fd = -1; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { host_device().share_release(&share); }

    peercoll_status_t allocate(peercoll_share_kind_t kind, std::size_t bytes = size) {
        return host_device().share_allocate(kind, bytes, &share, &handle, &reason);
    }
    peercoll_status_t attach(const peercoll_share_handle_t& to) {
        return host_device().share_attach(&to, &share, &reason);
    }
    unsigned char* data() const { return static_cast<unsigned char*>(share.address); }
};

struct SharedMemoryTest : testing::Test {
    std::set<std::string> files = files_in_dev_shm();
    std::set<int> descriptors = descriptors_of_this_process();

    static std::set<std::string> own_files(const std::set<std::string>& before) {
        std::set<std::string> own;
        for (const std::string& file : files_in_dev_shm())
            if (file.find("peercoll") != std::string::npos && !before.contains(file)) own.insert(file);
        return own;
    }
    void expect_nothing_left() const {
        EXPECT_EQ(descriptors_of_this_process(), descriptors);
        EXPECT_TRUE(abandoned_files(files).empty());
    }
};

TEST_F(SharedMemoryTest, IsZeroedAndOfTheSizeAskedFor) {
    for (const peercoll_share_kind_t kind : kinds) {
        Share owner;
        ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
        EXPECT_EQ(owner.share.bytes, size);
        EXPECT_EQ(owner.handle.bytes, size);
        EXPECT_EQ(owner.handle.kind, kind);
        EXPECT_EQ(owner.handle.owner_pid, getpid());
        EXPECT_EQ(owner.handle.owner_uid, geteuid());
        EXPECT_TRUE(std::all_of(owner.data(), owner.data() + size, [](unsigned char byte) { return byte == 0; }));
    }
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, IsReservedSoThatTouchingItCannotFail) {
    for (const peercoll_share_kind_t kind : kinds) {
        Share owner;
        ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
        struct stat status {};
        ASSERT_EQ(fstat(owner.share.fd, &status), 0);
        EXPECT_GE(status.st_blocks * 512, static_cast<blkcnt_t>(size));
        EXPECT_EQ(status.st_mode & 0777U, 0600U) << "for this user alone";
    }
}

TEST_F(SharedMemoryTest, AttachedInTheSameProcessIsTheSameMemory) {
    for (const peercoll_share_kind_t kind : kinds) {
        Share owner;
        Share other;
        ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
        ASSERT_EQ(other.attach(owner.handle), PEERCOLL_SUCCESS) << other.reason.text;
        EXPECT_NE(other.data(), owner.data());
        EXPECT_EQ(other.share.fd, -1) << "whoever attaches keeps no descriptor";
        owner.data()[size - 1] = 42;
        EXPECT_EQ(other.data()[size - 1], 42);
    }
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, OutlivesTheSealAndItsOwnersMapping) {
    for (const peercoll_share_kind_t kind : kinds) {
        Share other;
        {
            Share owner;
            ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
            ASSERT_EQ(other.attach(owner.handle), PEERCOLL_SUCCESS) << other.reason.text;
            host_device().share_seal(&owner.share);
            EXPECT_TRUE(own_files(files).empty()) << "no name is left";
            owner.data()[5] = 9;
        }
        EXPECT_EQ(other.data()[5], 9);
    }
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, CannotBeAttachedOnceItIsSealed) {
    for (const peercoll_share_kind_t kind : kinds) {
        Share owner;
        Share late;
        ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
        host_device().share_seal(&owner.share);
        host_device().share_seal(&owner.share);  // twice is once
        EXPECT_NE(late.attach(owner.handle), PEERCOLL_SUCCESS);
        EXPECT_EQ(late.share.address, nullptr);
        EXPECT_STRNE(late.reason.text, "");
        owner.data()[0] = 1;
    }
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, HasAnUnguessableNameInDevShmAndNoneAsAMemfd) {
    Share first;
    Share second;
    ASSERT_EQ(first.allocate(PEERCOLL_SHARE_SHM), PEERCOLL_SUCCESS) << first.reason.text;
    ASSERT_EQ(second.allocate(PEERCOLL_SHARE_SHM), PEERCOLL_SUCCESS) << second.reason.text;
    EXPECT_STRNE(first.handle.name, second.handle.name);
    EXPECT_GE(std::strlen(first.handle.name), 36U) << "100 random bits and more";
    EXPECT_EQ(own_files(files).size(), 2U);
    Share anonymous;
    ASSERT_EQ(anonymous.allocate(PEERCOLL_SHARE_MEMFD), PEERCOLL_SUCCESS) << anonymous.reason.text;
    EXPECT_STREQ(anonymous.handle.name, "");
    EXPECT_EQ(own_files(files).size(), 2U);
}

TEST_F(SharedMemoryTest, ReleasedTwiceOrNeverAllocatedIsNothing) {
    Share owner;
    ASSERT_EQ(owner.allocate(PEERCOLL_SHARE_SHM), PEERCOLL_SUCCESS) << owner.reason.text;
    host_device().share_release(&owner.share);
    host_device().share_release(&owner.share);
    EXPECT_EQ(owner.share.address, nullptr);
    expect_nothing_left();
}

struct WrongHandle {
    const char* what;
    std::function<void(peercoll_share_handle_t&)> change;
};

TEST_F(SharedMemoryTest, OfAHandleThatIsNotWhatItSaysIsRefused) {
    const WrongHandle wrong_handles[] = {
        {"a larger size", [](auto& handle) { ++handle.bytes; }},
        {"a smaller size", [](auto& handle) { handle.bytes -= 4096; }},
        {"no size", [](auto& handle) { handle.bytes = 0; }},
        {"another inode", [](auto& handle) { ++handle.inode; }},
        {"another device", [](auto& handle) { ++handle.device; }},
        {"another user", [](auto& handle) { ++handle.owner_uid; }},
        {"no kind", [](auto& handle) { handle.kind = 0; }},
        {"an unknown kind", [](auto& handle) { handle.kind = 77; }},
        {"a name without end",
         [](auto& handle) {
             handle.kind = PEERCOLL_SHARE_SHM;
             std::memset(handle.name, 'a', sizeof handle.name);
         }},
        {"no name",
         [](auto& handle) {
             handle.kind = PEERCOLL_SHARE_SHM;
             std::memset(handle.name, 0, sizeof handle.name);
         }},
    };
    for (const peercoll_share_kind_t kind : kinds) {
        Share owner;
        ASSERT_EQ(owner.allocate(kind), PEERCOLL_SUCCESS) << owner.reason.text;
        for (const WrongHandle& wrong : wrong_handles) {
            peercoll_share_handle_t handle = owner.handle;
            wrong.change(handle);
            const std::set<int> before = descriptors_of_this_process();
            Share other;
            EXPECT_NE(other.attach(handle), PEERCOLL_SUCCESS) << wrong.what << ", kind " << kind;
            EXPECT_EQ(other.share.address, nullptr) << wrong.what;
            EXPECT_STRNE(other.reason.text, "") << wrong.what;
            EXPECT_EQ(descriptors_of_this_process(), before) << wrong.what;
        }
    }
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, OfAnotherDescriptorOrProcessIsRefused) {
    Share owner;
    ASSERT_EQ(owner.allocate(PEERCOLL_SHARE_MEMFD), PEERCOLL_SUCCESS) << owner.reason.text;
    for (const int descriptor : {-1, 0, 100'000}) {
        peercoll_share_handle_t handle = owner.handle;
        handle.owner_fd = descriptor;
        Share other;
        EXPECT_NE(other.attach(handle), PEERCOLL_SUCCESS) << "descriptor " << descriptor;
    }
    for (const int pid : {-1, 0, 0x7fffffff}) {
        peercoll_share_handle_t handle = owner.handle;
        handle.owner_pid = pid;
        Share other;
        EXPECT_NE(other.attach(handle), PEERCOLL_SUCCESS) << "pid " << pid;
    }
}

TEST_F(SharedMemoryTest, ThatCannotBeHadIsRefusedWithASentence) {
    Share nothing;
    EXPECT_NE(nothing.allocate(PEERCOLL_SHARE_MEMFD, 0), PEERCOLL_SUCCESS);
    Share unknown;
    EXPECT_EQ(unknown.allocate(9), PEERCOLL_ERR_INVALID_ARGUMENT);
    EXPECT_THAT(unknown.reason.text, testing::HasSubstr("9"));
    struct statvfs room {};
    ASSERT_EQ(statvfs("/dev/shm", &room), 0);
    struct Request {
        peercoll_share_kind_t kind;
        std::size_t bytes;
    };
    // The kernel looks at the size of /dev/shm before it reserves anything. A memfd has no such limit: asking for too
    // much of it would take all memory first, so only a size that is none is tried.
    for (const Request request :
         {Request{PEERCOLL_SHARE_SHM, room.f_frsize * (room.f_blocks + 1)},
          Request{PEERCOLL_SHARE_SHM, ~std::size_t{0}}, Request{PEERCOLL_SHARE_MEMFD, ~std::size_t{0}}}) {
        Share endless;
        EXPECT_NE(endless.allocate(request.kind, request.bytes), PEERCOLL_SUCCESS);
        EXPECT_STRNE(endless.reason.text, "");
        EXPECT_EQ(endless.share.address, nullptr);
        EXPECT_EQ(endless.handle.kind, 0U) << "no handle of it";
    }
    EXPECT_TRUE(own_files(files).empty());
    expect_nothing_left();
}

TEST_F(SharedMemoryTest, IsSharedByForkedRanks) {
    for (const peercoll_share_kind_t kind : kinds)
        run_ranks(3, [kind](Rank& rank) {
            Share share;
            if (rank.rank() == 0) {
                EXPECT_EQ(share.allocate(kind), PEERCOLL_SUCCESS) << share.reason.text;
            }
            const auto handles = gather(rank.exchange(0), share.handle);
            if (rank.rank() != 0) {
                EXPECT_EQ(share.attach(handles[0]), PEERCOLL_SUCCESS) << share.reason.text;
            }
            EXPECT_TRUE(rank.exchange(1).meet());
            host_device().share_seal(&share.share);
            ASSERT_NE(share.data(), nullptr);
            share.data()[rank.rank()] = static_cast<unsigned char>(10 + rank.rank());
            EXPECT_TRUE(rank.exchange(2).meet());
            for (int other = 0; other < 3; ++other) EXPECT_EQ(share.data()[other], 10 + other);
        });
}

TEST_F(SharedMemoryTest, OfAProcessThatIsGoneIsRefused) {
    run_ranks(2, [](Rank& rank) {
        Share share;
        if (rank.rank() == 0) {
            EXPECT_EQ(share.allocate(PEERCOLL_SHARE_MEMFD), PEERCOLL_SUCCESS) << share.reason.text;
        }
        const auto handles = gather(rank.exchange(0), share.handle);
        if (rank.rank() == 0) return;
        // Its descriptors are closed some time after it has met us.
        for (int tries = 0; tries < 5000; ++tries) {
            Share other;
            if (other.attach(handles[0]) != PEERCOLL_SUCCESS) break;
            usleep(1000);
        }
        EXPECT_NE(share.attach(handles[0]), PEERCOLL_SUCCESS);
    });
}

}  // namespace
}  // namespace peercoll::test
