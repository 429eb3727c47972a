// SPDX-License-Identifier: BSD-3-Clause
// Small collectives that follow each other closely run on a kernel that stays on the device for the next one. Results
// are right whenever it comes, also when the kernel is just leaving, and for whatever comes between.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr int ranks = 2;
constexpr std::size_t most = 300'000;  // floats: more than a kernel stays for
constexpr std::size_t room = 2 * most * sizeof(double) + DeviceAllreduceRunner::extra_bytes;
// One kernel is launched to see that calls follow each other, and one more.
constexpr std::uint64_t launched_first = 3;

// What each of two ranks has, on a device of its own where there are as many, with kernels that stay for `standby`.
struct Scene {
    Scene(const Rank& rank, const std::string& standby, int devices = ranks, const std::string& algorithm = "auto")
        : Scene(rank, machine_with(devices), standby, devices, algorithm) {}
    Scene(const Rank& rank, const Machine& machine, const std::string& standby, int devices = ranks,
          const std::string& algorithm = "auto")
        : process(rank, machine, rank.rank() % devices),
          memory(&process.application(), Memory::Device, room),
          context({"peer_check=1s", "log=error", "device_standby=" + standby, "device_algorithm=" + algorithm}),
          comm(context, rank.exchange()),
          reduce(rank.rank(), comm.get(), memory, memory),
          spread(rank.rank(), comm.get(), memory) {}

    // By kernels that had stayed, of this rank.
    std::uint64_t stood_by(const std::string& collective) const {
        return context.counter(collective + ".fused.standby");
    }

    DeviceRank process;
    TestMemory memory;
    Context context;
    Comm comm;
    DeviceAllreduceRunner reduce;
    DeviceBroadcastRunner spread;
};

ReductionCase case_of(peercoll_datatype_t datatype, peercoll_op_t op) {
    return make_exact_case(datatype, op, ranks, most, 3);
}

TEST(StandbyKernels, TakeTheAllreducesThatFollow) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s");
        for (std::size_t i = 0; i < 40; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i * 1'000, 1 + i * 7, Layout::InPlace));
        }
        EXPECT_EQ(scene.stood_by("allreduce"), rank.rank() == 0 ? 40 - launched_first : 0);
    });
}

TEST(StandbyKernels, TakeTheBroadcastsThatFollow) {
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s");
        meet_devices(scene.comm, scene.memory);
        for (int i = 0; i < 40; ++i) {
            ASSERT_TRUE(scene.spread.run(static_cast<std::size_t>(1 + i * 9), i % 2));
        }
        EXPECT_GE(scene.stood_by("broadcast"), rank.rank() == 0 ? 40 - launched_first : 0);
    });
}

TEST(StandbyKernels, ThatCanHaveNoMailboxAreLaunchedForEachCall) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        // As many as the proof of the other device takes, without which nothing is fused.
        Scene scene(rank, {.node = "devices 2\npinned 3\n"}, "1s");
        for (std::size_t i = 0; i < 40; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i * 1'000, 1 + i * 7, Layout::InPlace));
        }
        EXPECT_EQ(scene.context.counter("allreduce.algorithm.fused"), 40U);
        EXPECT_EQ(scene.stood_by("allreduce"), 0U);
    });
}

TEST(StandbyKernels, OfSeveralBlocksTakeSmallerAndUnalignedMessagesToo) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s");
        std::uint64_t calls = 0;
        for (const std::size_t count : {12'000, 12'000, 12'000, 1, 12'000, 3'000, 7, 9'001, 12'000, 2}) {
            ASSERT_TRUE(
                scene.reduce.run(wanted, calls, count, calls % 2 == 0 ? Layout::InPlace : Layout::OneAllocation));
            ++calls;
        }
        EXPECT_EQ(scene.stood_by("allreduce"), rank.rank() == 0 ? calls - launched_first : 0);
    });
}

// Each device's rank then writes the results on its own device.
TEST(StandbyKernels, AreLeftOnAllDevicesByOneShotAllreduces) {
    const ReductionCase wanted = case_of(PEERCOLL_BFLOAT16, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s", ranks, "one_shot");
        for (std::size_t i = 0; i < 40; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i, 100 + i, Layout::OneAllocation));
        }
        EXPECT_EQ(scene.stood_by("allreduce"), 40 - launched_first);
    });
}

TEST(StandbyKernels, LeaveForOthersAndForWhatIsLarge) {
    const ReductionCase floats = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    const ReductionCase halves = case_of(PEERCOLL_FLOAT16, PEERCOLL_MAX);
    const ReductionCase doubles = case_of(PEERCOLL_FLOAT64, PEERCOLL_PROD);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s");
        std::mt19937 random(7);  // the same on all ranks
        const ReductionCase* wanted = &floats;
        for (int i = 0; i < 200; ++i) {
            if (random() % 12 == 0) {
                wanted = random() % 2 == 0 ? &halves : &doubles;
            }
            const std::size_t count = random() % 25 == 0 ? most : 1 + random() % 300;
            ASSERT_TRUE(scene.reduce.run(*wanted, most - count, count, Layout::InPlace)) << "call " << i;
            if (random() % 25 == 0) {
                ASSERT_TRUE(scene.spread.run(count, static_cast<int>(random() % ranks))) << "call " << i;
            }
        }
        EXPECT_EQ(scene.context.counter("allreduce.algorithm.fused"), 200U);
        EXPECT_GE(scene.stood_by("allreduce"), rank.rank() == 0 ? 20U : 0U);
    });
}

// As late as the kernel's patience lasts, about: it takes the call or has left, or is about to.
TEST(StandbyKernels, ThatAreJustLeavingLoseNoCall) {
    const ReductionCase wanted = case_of(PEERCOLL_INT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "2ms");
        std::mt19937 random(11);
        const auto late_by_most = std::chrono::microseconds(4'000);
        for (std::size_t i = 0; i < 600; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i, 1 + i % 500, Layout::InPlace)) << "call " << i;
            // Rows of calls in time bring the kernel back.
            if (i % 8 == 7) std::this_thread::sleep_for(late_by_most * (random() % 1'000) / 1'000);
        }
        EXPECT_EQ(scene.context.counter("allreduce.served"), 600U);
    });
}

TEST(StandbyKernels, AreNotLeftWhereCallsComeTooLate) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1ms");
        for (std::size_t i = 0; i < 30; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i, 100, Layout::InPlace));
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
        }
        EXPECT_EQ(scene.stood_by("allreduce"), 0U);
        EXPECT_EQ(scene.context.counter("allreduce.algorithm.fused"), 30U);
    });
}

TEST(StandbyKernels, AreNotLeftOnDevicesOfSeveralProcesses) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s", 1);
        for (std::size_t i = 0; i < 20; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i, 100, Layout::InPlace));
        }
        EXPECT_EQ(scene.stood_by("allreduce"), 0U);
        EXPECT_EQ(scene.context.counter("allreduce.algorithm.fused"), 20U);
    });
}

TEST(StandbyKernels, AreNotLeftByTheOptionOff) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT32, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "off");
        for (std::size_t i = 0; i < 20; ++i) {
            ASSERT_TRUE(scene.reduce.run(wanted, i, 100, Layout::InPlace));
        }
        EXPECT_EQ(scene.stood_by("allreduce"), 0U);
    });
}

// Communicators take turns on one stream, and what they leave there goes with it.
TEST(StandbyKernels, AreSharedByCommunicatorsAndGoWithTheContext) {
    const ReductionCase wanted = case_of(PEERCOLL_FLOAT64, PEERCOLL_SUM);
    run_ranks(ranks, [&](Rank& rank) {
        Scene scene(rank, "1s");
        for (int round = 0; round < 5; ++round) {
            const Comm another(scene.context, rank.exchange());
            DeviceAllreduceRunner there(rank.rank(), another.get(), scene.memory, scene.memory);
            for (std::size_t i = 0; i < 10; ++i) {
                ASSERT_TRUE(scene.reduce.run(wanted, i, 50 + i, Layout::InPlace));
                ASSERT_TRUE(there.run(wanted, i, 100, Layout::InPlace));
            }
        }
        EXPECT_GE(scene.stood_by("allreduce"), rank.rank() == 0 ? 90U : 0U);
    });
}

}  // namespace
}  // namespace peercoll::test
