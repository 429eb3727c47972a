// SPDX-License-Identifier: BSD-3-Clause
// Other processes' memory by cross-memory attach.
#include "plugin/device/host/host_device.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t page = 4096;

// Two pages of which only the first is mapped.
class OnePageAndAHole {
public:
    OnePageAndAHole()
        : memory_(static_cast<unsigned char*>(
              mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        std::memset(memory_, 0x5A, page);
        munmap(memory_ + page, page);
    }
    OnePageAndAHole(const OnePageAndAHole&) = delete;
    OnePageAndAHole& operator=(const OnePageAndAHole&) = delete;
    ~OnePageAndAHole() { munmap(memory_, page); }
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_); }
    unsigned char* data() const { return memory_; }

private:
    unsigned char* memory_;
};

struct Opened {
    peercoll_access_t access = nullptr;
    peercoll_reason_t reason{};
    peercoll_status_t status;

    explicit Opened(const peercoll_access_token_t& token, peercoll_access_kind_t kind = PEERCOLL_ACCESS_CMA)
        : status(host_device().access_open(&token, kind, &access, &reason)) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() {
        if (access != nullptr) host_device().access_close(access);
    }
    int read(std::uint64_t address, void* local, std::size_t bytes) const {
        return host_device().access_read(access, address, local, bytes);
    }
    int write(std::uint64_t address, const void* local, std::size_t bytes) const {
        return host_device().access_write(access, address, local, bytes);
    }
};

peercoll_access_token_t own_token() {
    peercoll_access_token_t token{};
    EXPECT_EQ(host_device().access_export(&token, nullptr), PEERCOLL_SUCCESS);
    return token;
}

// What rank 1 is given of rank 0.
template <typename Look>
void with_peer(Look look) {
    run_ranks(2, [&](Rank& rank) {
        const OnePageAndAHole memory;
        const auto tokens = gather(rank.exchange(0), own_token());
        const auto addresses = gather(rank.exchange(1), memory.address());
        if (rank.rank() == 1) {
            const Opened peer(tokens[0]);
            ASSERT_EQ(peer.status, PEERCOLL_SUCCESS) << peer.reason.text;
            look(peer, addresses[0]);
        }
        EXPECT_TRUE(rank.exchange(2).meet());
    });
}

TEST(ProcessMemory, IsReadAndWrittenAtAnyAddress) {
    with_peer([](const Opened& peer, std::uint64_t address) {
        std::vector<unsigned char> here(1000);
        for (const std::size_t at : {0, 1, 63, 3096}) {
            EXPECT_EQ(peer.read(address + at, here.data(), here.size()), 0);
            EXPECT_EQ(here, std::vector<unsigned char>(1000, 0x5A));
            here.assign(1000, 0);
        }
        const std::vector<unsigned char> mine(10, 3);
        EXPECT_EQ(peer.write(address + 7, mine.data(), mine.size()), 0);
        EXPECT_EQ(peer.read(address + 6, here.data(), 12), 0);
        EXPECT_EQ(here[0], 0x5A);
        EXPECT_EQ(here[1], 3);
        EXPECT_EQ(here[10], 3);
        EXPECT_EQ(here[11], 0x5A);
    });
}

TEST(ProcessMemory, ThatIsUnmappedInPartIsAnError) {
    with_peer([](const Opened& peer, std::uint64_t address) {
        std::vector<unsigned char> here(2 * page, 1);
        EXPECT_EQ(peer.read(address, here.data(), page), 0) << "all of what is mapped";
        EXPECT_EQ(peer.read(address, here.data(), page + 1), EFAULT);
        EXPECT_EQ(peer.read(address + page - 1, here.data(), 2), EFAULT);
        EXPECT_EQ(peer.read(address + page, here.data(), 1), EFAULT);
        EXPECT_EQ(peer.write(address + page - 1, here.data(), 2), EFAULT);
        EXPECT_EQ(peer.read(8, here.data(), 1), EFAULT);
    });
}

TEST(ProcessMemory, OfNoBytesIsAlwaysThere) {
    with_peer([](const Opened& peer, std::uint64_t address) {
        unsigned char here = 1;
        EXPECT_EQ(peer.read(address, &here, 0), 0);
        EXPECT_EQ(peer.read(8, nullptr, 0), 0);
        EXPECT_EQ(peer.write(8, nullptr, 0), 0);
        EXPECT_EQ(here, 1);
    });
}

TEST(ProcessMemory, IsCopiedWholeWhenItIsLarge) {
    constexpr std::size_t bytes = std::size_t{9} << 20;
    run_ranks(2, [](Rank& rank) {
        std::vector<unsigned char> mine(bytes, static_cast<unsigned char>(rank.rank() + 1));
        mine[bytes / 2] = 99;
        const auto tokens = gather(rank.exchange(0), own_token());
        const auto addresses = gather(rank.exchange(1), reinterpret_cast<std::uintptr_t>(mine.data()));
        if (rank.rank() == 1) {
            const Opened peer(tokens[0]);
            std::vector<unsigned char> here(bytes);
            EXPECT_EQ(peer.read(addresses[0], here.data(), bytes), 0);
            std::vector<unsigned char> expected(bytes, 1);
            expected[bytes / 2] = 99;
            EXPECT_TRUE(here == expected);
        }
        EXPECT_TRUE(rank.exchange(2).meet());
    });
}

TEST(ProcessMemory, OfThisProcessCanBeReadToo) {
    const OnePageAndAHole memory;
    const Opened self(own_token());
    ASSERT_EQ(self.status, PEERCOLL_SUCCESS) << self.reason.text;
    unsigned char here = 0;
    EXPECT_EQ(self.read(memory.address(), &here, 1), 0);
    EXPECT_EQ(here, 0x5A);
}

TEST(ProcessMemory, OfNobodyIsAnError) {
    peercoll_access_token_t token = own_token();
    token.pid = 0x7fffffff;
    const Opened nobody(token);
    ASSERT_EQ(nobody.status, PEERCOLL_SUCCESS) << "opening asks nothing";
    unsigned char here = 0;
    EXPECT_EQ(nobody.read(reinterpret_cast<std::uintptr_t>(&here), &here, 1), ESRCH);
}

TEST(ProcessMemory, IsOpenedOnlyInAWayThatIsOffered) {
    const peercoll_access_token_t token = own_token();
    for (const peercoll_access_kind_t kind : {0U, 3U, 31U, 32U, 1000U}) {
        const Opened none(token, kind);
        EXPECT_EQ(none.status, PEERCOLL_ERR_NOT_SUPPORTED) << kind;
        EXPECT_EQ(none.access, nullptr);
        EXPECT_THAT(none.reason.text, testing::HasSubstr("offer"));
    }
}

TEST(ProcessMemory, ByXpmemHasAReasonWhereItsLibraryIsAbsent) {
    if (void* library = dlopen("libxpmem.so.0", RTLD_NOW | RTLD_LOCAL); library != nullptr) {
        dlclose(library);
        GTEST_SKIP() << "this machine has libxpmem.so.0";
    }
    peercoll_access_token_t token{};
    peercoll_reason_t reason{};
    EXPECT_EQ(host_device().access_export(&token, &reason), PEERCOLL_SUCCESS);
    EXPECT_EQ(token.kinds, 1U << PEERCOLL_ACCESS_CMA);
    EXPECT_THAT(reason.text, testing::HasSubstr("libxpmem.so.0"));
    token.kinds |= 1U << PEERCOLL_ACCESS_XPMEM;  // a peer on a machine that has it
    const Opened refused(token, PEERCOLL_ACCESS_XPMEM);
    EXPECT_EQ(refused.status, PEERCOLL_ERR_SYSTEM);
    EXPECT_THAT(refused.reason.text, testing::HasSubstr("libxpmem.so.0"));
}

TEST(HostDevice, IsWhatItsInterfaceSays) {
    EXPECT_EQ(host_device().abi_version, PEERCOLL_DEVICE_ABI_VERSION);
    EXPECT_EQ(host_device().struct_size, sizeof(peercoll_device_runtime_t));
    EXPECT_STREQ(host_device().name, "host");
}

}  // namespace
}  // namespace peercoll::test
