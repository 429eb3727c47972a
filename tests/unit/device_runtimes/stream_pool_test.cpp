// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/stream_pool.hpp"

#include "tests/unit/device_runtimes/counted_runtime.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <utility>
#include <vector>

namespace peercoll {
namespace {

using test::counted_runtime;
using test::counts;

class StreamPools : public testing::Test {
protected:
    StreamPools() { test::reset_counts(); }
    ~StreamPools() override { EXPECT_EQ(counts().streams_there, 0) << "a stream outlived its pool"; }
};

TEST_F(StreamPools, LendTheSameStreamAgain) {
    StreamPool pool;
    peercoll_stream_t first = nullptr;
    for (int round = 0; round < 3; ++round) {
        LentStream stream;
        ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
        if (round == 0) first = stream.get();
        EXPECT_EQ(stream.get(), first);
    }
    EXPECT_EQ(counts().streams_made, 1);
}

TEST_F(StreamPools, MakeAnotherWhileOneIsLent) {
    StreamPool pool;
    LentStream one;
    LentStream two;
    ASSERT_TRUE(pool.take(counted_runtime(), 0, one).ok());
    ASSERT_TRUE(pool.take(counted_runtime(), 0, two).ok());
    EXPECT_NE(one.get(), two.get());
    EXPECT_EQ(counts().streams_made, 2);
}

TEST_F(StreamPools, KeepDevicesAndRuntimesApart) {
    StreamPool pool;
    {  // leaves a spare stream of device 0
        LentStream stream;
        ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
    }
    LentStream of_other_device;
    ASSERT_TRUE(pool.take(counted_runtime(), 1, of_other_device).ok());
    EXPECT_EQ(of_other_device.get()->device, 1);
    EXPECT_EQ(of_other_device.device(), 1);
    LentStream of_other_runtime;
    ASSERT_TRUE(pool.take(test::other_runtime(), 0, of_other_runtime).ok());
    EXPECT_EQ(&of_other_runtime.runtime(), &test::other_runtime());
    EXPECT_EQ(counts().streams_made, 3);
}

TEST_F(StreamPools, GiveBackTheStreamThatIsReplaced) {
    StreamPool pool;
    LentStream stream;
    ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
    // The new one is taken before the old one goes back, so there are two from now on.
    ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
    ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
    EXPECT_EQ(counts().streams_made, 2);
    LentStream moved = std::move(stream);
    EXPECT_TRUE(moved);
    EXPECT_FALSE(stream) << "it has moved";  // NOLINT(bugprone-use-after-move)
    moved = LentStream{};
    EXPECT_FALSE(moved);
    EXPECT_EQ(counts().streams_there, 2) << "the pool keeps them";
}

TEST_F(StreamPools, SayWhyThereIsNoStream) {
    StreamPool pool;
    LentStream stream;
    counts().refuses = true;
    const Status status = pool.take(counted_runtime(), 0, stream);
    EXPECT_EQ(status.code(), PEERCOLL_ERR_SYSTEM);
    EXPECT_EQ(status.sentence(), "refused by the test");
    EXPECT_FALSE(stream);
    counts().refuses = false;
    EXPECT_TRUE(pool.take(counted_runtime(), 0, stream).ok()) << "and go on when there is one";
}

TEST_F(StreamPools, StreamsTellWhatTheRuntimeSays) {
    StreamPool pool;
    LentStream stream;
    ASSERT_TRUE(pool.take(counted_runtime(), 0, stream).ok());
    const std::array<int, 3> from = {1, 2, 3};
    std::array<int, 3> to{};
    ASSERT_TRUE(
        stream
            .copy(reinterpret_cast<std::uintptr_t>(to.data()), reinterpret_cast<std::uintptr_t>(from.data()), sizeof to)
            .ok());
    EXPECT_EQ(to, from);
    EXPECT_TRUE(stream.query().ok());
    counts().busy = true;
    EXPECT_EQ(stream.query().code(), PEERCOLL_ERR_BUSY);
    counts().busy = false;
    counts().refuses = true;
    for (const Status& status : {stream.query(), stream.synchronize(), stream.copy(0, 0, 8)}) {
        EXPECT_EQ(status.code(), PEERCOLL_ERR_SYSTEM);
        EXPECT_EQ(status.sentence(), "refused by the test");
    }
}

TEST_F(StreamPools, LendNoStreamToTwoThreadsAtATime) {
    constexpr int threads = 4;
    constexpr int rounds = 500;
    StreamPool pool;
    std::atomic<int> lent_twice{0};
    {
        std::vector<std::jthread> all;
        for (int thread = 0; thread < threads; ++thread)
            all.emplace_back([&, thread] {
                for (int round = 0; round < rounds; ++round) {
                    LentStream stream;
                    if (!pool.take(counted_runtime(), 0, stream).ok()) continue;
                    // Nobody else writes to it while it is lent.
                    stream.get()->device = thread;
                    std::this_thread::yield();
                    if (stream.get()->device != thread) ++lent_twice;
                }
            });
    }
    EXPECT_EQ(lent_twice, 0);
    EXPECT_LE(counts().streams_made, threads) << "no more than were lent at a time";
}

}  // namespace
}  // namespace peercoll
