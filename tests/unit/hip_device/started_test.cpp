// SPDX-License-Identifier: BSD-3-Clause
// A process that has loaded HIP and called nothing of it: peercoll does not start it either, because a process that is
// forked afterwards could not use it.
#include "tests/support/plugin.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace peercoll::test {
namespace {

class HipThatNobodyHasStarted : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipThatNobodyHasStarted);

constexpr int count = 1'000;
constexpr std::size_t bytes = count * sizeof(std::int32_t);

// As ROCr says, without starting anything.
bool has_started(const Application& application) {
    std::uint16_t version = 0;
    const int answer = application.call("hsa_system_get_info", 0, static_cast<void*>(&version));
    EXPECT_TRUE(answer == 0 || answer == 4107) << answer;
    return answer == 0;
}

// Of two ranks: 0, 1, 2 ... and 1000, 1001, 1002 ...
std::int32_t summand(int rank, int i) {
    return 1000 * rank + i;
}
void sum_on_host(const Rank& rank, const Comm& comm) {
    std::vector<std::int32_t> values(count);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = summand(rank.rank(), i);
    ASSERT_TRUE(
        succeeded(plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
    for (int i = 0; i < count; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], summand(0, i) + summand(1, i)) << i;
}

void use_hip(const Application& application) {
    application.use(0);
    const std::uint64_t memory = application.allocate(bytes);
    application.write(memory, pattern(bytes, 5));
    EXPECT_EQ(application.read(memory, bytes), pattern(bytes, 5));
    application.free(memory);
}

TEST_P(HipThatNobodyHasStarted, IsAskedWithoutBeingStarted) {
    run_ranks(1, [](Rank&) {
        EXPECT_EQ(hip_device().is_started(), 0) << "not loaded";
        const Application application(GetParam(), {});
        EXPECT_EQ(hip_device().is_started(), 0);
        EXPECT_FALSE(has_started(application));
        application.use(0);
        EXPECT_EQ(hip_device().is_started(), 1);
        hip_device().close();
        EXPECT_EQ(hip_device().is_started(), 1) << "asked anew";
        hip_device().close();
    });
}

TEST_P(HipThatNobodyHasStarted, IsNotStartedByCollectivesSoThatAChildCanUseIt) {
    run_ranks(2, [](Rank& rank) {
        const Application application(GetParam(), {});
        const Context context({"log=error"});
        const Comm comm(context, rank.exchange());
        for (int round = 0; round < 20; ++round) sum_on_host(rank, comm);
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
        EXPECT_FALSE(has_started(application));
        run_ranks(1, [&](Rank&) { use_hip(application); });
        EXPECT_FALSE(has_started(application));
        sum_on_host(rank, comm);
    });
}

TEST_P(HipThatNobodyHasStarted, IsUsedFromTheFirstCallAfterTheApplicationHasStartedIt) {
    run_ranks(2, [](Rank& rank) {
        const Application application(GetParam(), {});
        {
            const Context context({"log=error"});
            const Comm comm(context, rank.exchange());
            sum_on_host(rank, comm);
            EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
            use_hip(application);
            EXPECT_EQ(plugin.devices_in_use(context.get()), 1);
            const std::uint64_t memory = application.allocate(bytes);
            EXPECT_EQ(plugin.memory_is_device(context.get(), pointer(memory)), 1);
            application.write(memory, pattern(bytes, static_cast<unsigned>(rank.rank())));
            EXPECT_TRUE(succeeded(plugin.broadcast(pointer(memory), bytes, 1, comm.get())));
            EXPECT_EQ(application.read(memory, bytes), pattern(bytes, 1));
            application.free(memory);
        }
        EXPECT_TRUE(rank.exchange().meet());
    });
}

}  // namespace
}  // namespace peercoll::test
