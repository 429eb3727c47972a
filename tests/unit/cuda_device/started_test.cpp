// SPDX-License-Identifier: BSD-3-Clause
// A process that has loaded the driver and not called cuInit: peercoll does not call it either, because a process that
// is forked afterwards could not use CUDA.
#include "tests/support/plugin.hpp"
#include "tests/unit/cuda_device/application.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int count = 1'000;
constexpr std::size_t bytes = count * sizeof(std::int32_t);

bool has_started(const Application& application) {
    int devices = 0;
    const cuda::CuResult answer = application.cu.device_get_count(&devices);
    EXPECT_TRUE(answer == cuda::code::success || answer == cuda::code::not_initialized) << answer;
    return answer == cuda::code::success;
}

std::vector<std::int32_t> of_rank(int rank) {
    std::vector<std::int32_t> values(count);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = 1000 * rank + i;
    return values;
}

// For two ranks.
std::vector<std::int32_t> sum_of_both() {
    std::vector<std::int32_t> values(count);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = 1000 + 2 * i;
    return values;
}

void allreduce_on_host(const Rank& rank, const Comm& comm) {
    std::vector<std::int32_t> values = of_rank(rank.rank());
    ASSERT_TRUE(
        succeeded(plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
    EXPECT_EQ(values, sum_of_both());
}

void reduce_on_host(const Rank& rank, const Comm& comm) {
    allreduce_on_host(rank, comm);
    std::vector<std::int32_t> values = of_rank(rank.rank());
    ASSERT_TRUE(succeeded(plugin.broadcast(values.data(), bytes, 1, comm.get())));
    EXPECT_EQ(values, of_rank(1));
}

void reduce_on_device(const Application& application, const Rank& rank, const Comm& comm) {
    const cuda::CuAddress memory = application.allocate(bytes);
    std::vector<std::uint8_t> raw(bytes);
    std::memcpy(raw.data(), of_rank(rank.rank()).data(), bytes);
    application.write(memory, raw);
    void* const buffer = reinterpret_cast<void*>(memory);
    EXPECT_TRUE(succeeded(plugin.allreduce(buffer, buffer, count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
    std::memcpy(raw.data(), sum_of_both().data(), bytes);
    EXPECT_EQ(application.read(memory, bytes), raw);
    application.free(memory);
}

// Starts the driver, and has it store and read.
void use_driver(const Application& application) {
    ASSERT_EQ(application.cu.init(0), cuda::code::success);
    cuda::CuContext context = nullptr;
    ASSERT_EQ(application.cu.primary_context_retain(&context, 0), cuda::code::success);
    ASSERT_EQ(application.cu.context_push(context), cuda::code::success);
    const cuda::CuAddress memory = application.allocate(bytes);
    application.write(memory, pattern(bytes, 5));
    EXPECT_EQ(application.read(memory, bytes), pattern(bytes, 5));
    application.free(memory);
    EXPECT_EQ(application.cu.context_pop(&context), cuda::code::success);
    EXPECT_EQ(application.cu.primary_context_release(0), cuda::code::success);
}

std::vector<std::string> described(const Context& context) {
    std::vector<std::string> lines;
    const peercoll_line_fn keep = [](const char* line, void* user) {
        static_cast<std::vector<std::string>*>(user)->emplace_back(line);
    };
    EXPECT_TRUE(succeeded(plugin.describe_devices(context.get(), keep, &lines)));
    return lines;
}

TEST(CudaThatNobodyHasStarted, IsAskedWithoutBeingStarted) {
    run_ranks(1, [](Rank&) {
        EXPECT_EQ(cuda_device().is_started(), 0) << "not loaded";
        const Application application({}, false);
        EXPECT_EQ(cuda_device().is_started(), 0);
        EXPECT_FALSE(has_started(application));
        EXPECT_EQ(application.cu.init(0), cuda::code::success);
        EXPECT_EQ(cuda_device().is_started(), 1);
        cuda_device().close();
        EXPECT_EQ(cuda_device().is_started(), 1) << "asked anew";
        cuda_device().close();
    });
}

// What cannot start says why when it is opened.
TEST(CudaThatNobodyHasStarted, IsNoStub) {
    run_ranks(1, [](Rank&) {
        const Application application({.variant = "stub"}, false);
        EXPECT_EQ(cuda_device().is_started(), 1);
        cuda_device().close();
    });
}

TEST(CudaThatNobodyHasStarted, IsNotStartedByCollectivesSoThatAChildCanUseIt) {
    run_ranks(2, [](Rank& rank) {
        const Application application({}, false);
        const Context context({"log=error"});
        const Comm comm(context, rank.exchange());
        for (int round = 0; round < 20; ++round) reduce_on_host(rank, comm);
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
        EXPECT_THAT(described(context),
                    Contains(HasSubstr("cuda: off, this process has loaded it and not started it")));
        EXPECT_FALSE(has_started(application));
        run_ranks(1, [&](Rank&) { use_driver(application); });
        EXPECT_FALSE(has_started(application));
        reduce_on_host(rank, comm);
    });
}

TEST(CudaThatNobodyHasStarted, IsUsedFromTheFirstCallAfterTheApplicationHasStartedIt) {
    run_ranks(2, [](Rank& rank) {
        Application application({}, false);
        {
            const Context context({"log=error"});
            const Comm comm(context, rank.exchange());
            reduce_on_host(rank, comm);
            EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
            ASSERT_EQ(application.cu.init(0), cuda::code::success);
            application.use(0);
            EXPECT_EQ(plugin.devices_in_use(context.get()), 1);
            for (int round = 0; round < 3; ++round) reduce_on_device(application, rank, comm);
            EXPECT_GE(context.counter("device.set_up"), 1U);
            reduce_on_host(rank, comm);
        }
        EXPECT_TRUE(rank.exchange().meet());
    });
}

// One rank's driver is started, the other's is only loaded.
TEST(CudaThatNobodyHasStarted, IsLeftAloneWhereOnlyTheOtherRankUsesIt) {
    run_ranks(2, [](Rank& rank) {
        Application application({}, rank.rank() == 0);
        if (rank.rank() == 0) application.use(0);
        {
            const Context context({"log=error"});
            const Comm comm(context, rank.exchange());
            for (int round = 0; round < 3; ++round) {
                if (rank.rank() == 0)
                    reduce_on_device(application, rank, comm);
                else
                    allreduce_on_host(rank, comm);
            }
            EXPECT_EQ(has_started(application), rank.rank() == 0);
        }
        EXPECT_TRUE(rank.exchange().meet());
    });
}

}  // namespace
}  // namespace peercoll::test
