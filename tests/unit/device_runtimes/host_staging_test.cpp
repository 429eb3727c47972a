// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/host_staging.hpp"

#include "tests/unit/device_runtimes/counted_runtime.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace peercoll {
namespace {

using test::counted_runtime;
using test::counts;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

class Staging : public testing::Test {
protected:
    Staging() { test::reset_counts(); }
    ~Staging() override { EXPECT_EQ(counts().registrations_there, 0) << "memory stays registered after its end"; }

    std::byte* take(HostStaging& staging, std::size_t bytes, const peercoll_device_runtime_t* runtime = nullptr,
                    std::int32_t device = 0) {
        std::byte* memory = nullptr;
        const Status status = staging.take(runtime, device, bytes, memory);
        EXPECT_TRUE(status.ok()) << status.sentence();
        return memory;
    }
};

TEST_F(Staging, GivesAlignedMemoryThatCanBeWrittenToItsLastByte) {
    HostStaging staging;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, mebibyte, mebibyte + 1}) {
        std::byte* const memory = take(staging, bytes);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
        std::memset(memory, 0x5a, bytes);
        EXPECT_TRUE(staging.give_back(memory));
    }
}

TEST_F(Staging, GivesDifferentMemoryToWhoHasItAtTheSameTime) {
    HostStaging staging;
    std::byte* const one = take(staging, 5000);
    std::byte* const other = take(staging, 5000);
    EXPECT_TRUE(one + 5000 <= other || other + 5000 <= one);
    EXPECT_TRUE(staging.give_back(one));
    EXPECT_TRUE(staging.give_back(other));
}

TEST_F(Staging, FindsTheSameMemoryForSimilarSizes) {
    HostStaging staging;
    std::byte* const first = take(staging, 5000, &counted_runtime());
    EXPECT_TRUE(staging.give_back(first));
    for (const std::size_t bytes : {4097U, 8192U, 1U}) {
        std::byte* const again = take(staging, bytes, &counted_runtime());
        EXPECT_EQ(again, first) << bytes << " bytes fit into 8192, to which 5000 were rounded";
        EXPECT_TRUE(staging.give_back(again));
    }
    EXPECT_EQ(counts().registrations_made, 1) << "registering is what takes long";
    std::byte* const larger = take(staging, 8193, &counted_runtime());
    EXPECT_NE(larger, first);
    EXPECT_TRUE(staging.give_back(larger));
    EXPECT_EQ(counts().registrations_made, 2);
}

TEST_F(Staging, PrefersTheSmallestThatFits) {
    HostStaging staging;
    std::byte* const large = take(staging, 64 * 1024);
    std::byte* const small = take(staging, 4096);
    EXPECT_TRUE(staging.give_back(large));
    EXPECT_TRUE(staging.give_back(small));
    EXPECT_EQ(take(staging, 100), small);
    EXPECT_EQ(take(staging, 100), large) << "rather than memory that has to be made";
    EXPECT_TRUE(staging.give_back(small));
    EXPECT_TRUE(staging.give_back(large));
}

TEST_F(Staging, KeepsTheMemoryOfRuntimesAndDevicesApart) {
    HostStaging staging;
    std::byte* const of_device_0 = take(staging, 4096, &counted_runtime(), 0);
    EXPECT_TRUE(staging.give_back(of_device_0));
    std::vector<std::byte*> others = {take(staging, 4096, &counted_runtime(), 1),
                                      take(staging, 4096, &test::other_runtime(), 0), take(staging, 4096)};
    for (std::byte* const other : others) {
        EXPECT_NE(other, of_device_0);
        EXPECT_TRUE(staging.give_back(other));
    }
    EXPECT_EQ(counts().registrations_made, 3) << "plain memory is not registered";
}

TEST_F(Staging, IsPlainMemoryWhereItCannotBePinned) {
    HostStaging staging;
    std::byte* const without = take(staging, 4096, &test::runtime_without_pinning());
    ASSERT_NE(without, nullptr);
    counts().refuses = true;
    std::byte* const refused = take(staging, 4096, &counted_runtime());
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(counts().registrations_made, 0);
    EXPECT_TRUE(staging.give_back(without));
    EXPECT_TRUE(staging.give_back(refused));
}

TEST_F(Staging, KeepsNoMoreThanItsLimit) {
    HostStaging staging;
    std::vector<std::byte*> blocks;
    for (int block = 0; block < 3; ++block) blocks.push_back(take(staging, 100 * mebibyte, &counted_runtime()));
    for (std::byte* const block : blocks) EXPECT_TRUE(staging.give_back(block));
    EXPECT_EQ(counts().registrations_there, 2) << "two of 100 MiB are below 256 MiB, three are not";
    std::byte* const again = take(staging, 100 * mebibyte, &counted_runtime());
    EXPECT_TRUE(again == blocks[0] || again == blocks[1]);
    EXPECT_EQ(counts().registrations_made, 3);
    EXPECT_TRUE(staging.give_back(again));
    EXPECT_EQ(counts().registrations_there, 2) << "what was lent meanwhile is counted once";
}

TEST_F(Staging, TakesBackOnlyWhatIsLent) {
    HostStaging staging;
    std::byte foreign{};
    EXPECT_FALSE(staging.give_back(&foreign));
    std::byte* const memory = take(staging, 4096);
    EXPECT_FALSE(staging.give_back(memory + 1)) << "only its beginning names it";
    EXPECT_TRUE(staging.give_back(memory));
    EXPECT_FALSE(staging.give_back(memory)) << "it has been given back";
}

TEST_F(Staging, RefusesSizesThatNoMemoryHas) {
    HostStaging staging;
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    for (const std::size_t bytes : {all, all - mebibyte / 2, all / 2 + 1}) {
        std::byte* memory = nullptr;
        const Status status = staging.take(nullptr, 0, bytes, memory);
        EXPECT_EQ(status.code(), PEERCOLL_ERR_OUT_OF_MEMORY) << bytes;
        EXPECT_NE(status.sentence().find("bytes of host memory"), std::string::npos) << status.sentence();
        EXPECT_EQ(memory, nullptr);
    }
}

TEST_F(Staging, OfACollectiveGoesBackWithIt) {
    HostStaging staging;
    std::byte* first = nullptr;
    {
        StagedBytes bytes;
        EXPECT_EQ(bytes.get(), nullptr);
        ASSERT_TRUE(bytes.take(staging, &counted_runtime(), 0, 4096).ok());
        first = bytes.get();
        StagedBytes moved = std::move(bytes);
        EXPECT_EQ(moved.get(), first);
        EXPECT_EQ(bytes.get(), nullptr) << "it has moved";  // NOLINT(bugprone-use-after-move)
        ASSERT_TRUE(moved.take(staging, &counted_runtime(), 0, 4096).ok());
        EXPECT_EQ(moved.get(), first) << "what it had goes back before it takes anew";
    }
    EXPECT_EQ(take(staging, 4096, &counted_runtime()), first);
    EXPECT_TRUE(staging.give_back(first));
}

}  // namespace
}  // namespace peercoll
