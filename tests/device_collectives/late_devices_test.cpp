// SPDX-License-Identifier: BSD-3-Clause
// Devices that come into use late, or not on all ranks: the ranks learn of it from the collectives themselves.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace peercoll::test {
namespace {

constexpr int ranks = 3;
constexpr std::size_t count = 3'001;
constexpr std::size_t room = count * sizeof(float) + DeviceAllreduceRunner::extra_bytes;

ReductionCase sum_of_floats() {
    return make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, count, 3);
}

// What a rank runs, in one memory after another.
class Calls {
public:
    Calls(const Rank& rank, const Comm& comm, const ReductionCase& wanted)
        : rank_(rank), comm_(&comm), wanted_(&wanted) {}

    void allreduce(const TestMemory& memory, int times) const {
        DeviceAllreduceRunner runner(rank_.rank(), comm_->get(), memory, memory);
        for (int i = 0; i < times && runner.run(*wanted_, 0, count, Layout::InPlace); ++i) {
        }
    }
    void broadcast(const TestMemory& memory, int times) const {
        DeviceBroadcastRunner runner(rank_.rank(), comm_->get(), memory);
        for (int i = 0; i < times && runner.run(count, i % rank_.size()); ++i) {
        }
    }

private:
    Rank rank_;
    const Comm* comm_;
    const ReductionCase* wanted_;
};

const OptionList options{"peer_check=1s", "log=error"};

// Not device 0: HIP calls it the current one of every thread that never chose one, so its use shows only with the first
// buffer, where a collective later than elsewhere is the first to know (DeviceZeroIsKnownByItsSecondBufferAtTheLatest).
constexpr int first_device = 1;

int device_of(const Rank& rank) {
    return first_device + rank.rank() % 2;
}

TEST(LateDevices, ARankThatNeverLoadsTheDriver) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = sum_of_floats();
    for (int without = 0; without < ranks; ++without) {
        run_ranks(ranks, [&](Rank& rank) {
            std::optional<DeviceRank> process;
            if (rank.rank() != without) {
                process.emplace(rank, machine_with(3), device_of(rank));
            }
            {
                const TestMemory memory(process ? &process->application() : nullptr,
                                        process ? Memory::Device : Memory::Host, room);
                const Context context(options);
                const Comm comm(context, rank.exchange());
                const Calls calls(rank, comm, wanted);
                calls.allreduce(memory, 4);
                calls.broadcast(memory, 6);
                EXPECT_EQ(context.counter("allreduce.served"), 4U);
                EXPECT_EQ(context.counter("allreduce.algorithm.fused"), 0U);
                EXPECT_EQ(by_way_of_host(context, "allreduce"), 4U);
                EXPECT_EQ(by_way_of_host(context, "broadcast"), 6U);
            }
            if (!process) {
                leave_with_devices(rank);
            }
        });
    }
}

TEST(LateDevices, AllRanksAfterSeveralAllreduces) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = sum_of_floats();
    run_ranks(ranks, [&](Rank& rank) {
        std::optional<Context> context(std::in_place, options);
        const TestMemory host(nullptr, Memory::Host, room);
        std::optional<Comm> comm(std::in_place, *context, rank.exchange());
        const Calls calls(rank, *comm, wanted);
        calls.allreduce(host, 5);
        EXPECT_EQ(context->counter("device.set_up"), 0U);
        const DeviceRank process(rank, machine_with(3), device_of(rank));
        const TestMemory memory(&process.application(), Memory::Device, room);
        calls.allreduce(memory, 4);
        // Of the first one the ranks learn what buffers they have.
        EXPECT_EQ(context->counter("device.set_up"), 1U);
        EXPECT_EQ(by_way_of_host(*context, "allreduce"), 1U);
        EXPECT_EQ(context->counter("allreduce.algorithm.fused"), 3U);
        calls.allreduce(host, 2);
        EXPECT_EQ(context->counter("allreduce.served"), 11U);
        EXPECT_EQ(by_way_of_host(*context, "allreduce"), 1U) << "the host's buffers are not staged";
        comm.reset();
        context.reset();
    });
}

TEST(LateDevices, AllRanksAfterSeveralBroadcasts) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = sum_of_floats();
    run_ranks(ranks, [&](Rank& rank) {
        std::optional<Context> context(std::in_place, options);
        const TestMemory host(nullptr, Memory::Host, room);
        std::optional<Comm> comm(std::in_place, *context, rank.exchange());
        const Calls calls(rank, *comm, wanted);
        calls.broadcast(host, 5);
        const DeviceRank process(rank, machine_with(3), device_of(rank));
        const TestMemory memory(&process.application(), Memory::Device, room);
        calls.broadcast(memory, 6);
        // The ranks meet before the eighth broadcast: the sixth and the seventh are staged.
        EXPECT_EQ(by_way_of_host(*context, "broadcast"), 2U);
        EXPECT_EQ(context->counter("broadcast.algorithm.fused"), 4U);
        EXPECT_EQ(context->counter("device.set_up"), 1U);
        comm.reset();
        context.reset();
    });
}

TEST(LateDevices, OneRankAfterTheOthersInAllreduces) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = sum_of_floats();
    for (int late = 0; late < ranks; ++late) {
        run_ranks(ranks, [&](Rank& rank) {
            std::optional<Context> context(std::in_place, options);
            std::optional<DeviceRank> process;
            std::optional<TestMemory> memory(std::in_place, nullptr, Memory::Host, room);
            const auto come_to_use_a_device = [&] {
                process.emplace(rank, machine_with(3), device_of(rank));
                memory.emplace(&process->application(), Memory::Device, room);
            };
            std::optional<Comm> comm(std::in_place, *context, rank.exchange());
            const Calls calls(rank, *comm, wanted);
            if (rank.rank() != late) {
                come_to_use_a_device();
            }
            calls.allreduce(*memory, 3);
            calls.broadcast(*memory, 3);
            EXPECT_EQ(context->counter("device.set_up"), 1U);
            EXPECT_EQ(context->counter("allreduce.algorithm.fused"), 0U);
            if (rank.rank() == late) {
                come_to_use_a_device();
            }
            calls.allreduce(*memory, 3);
            calls.broadcast(*memory, 3);
            EXPECT_EQ(context->counter("device.set_up"), 2U) << "the ranks tell each other anew";
            EXPECT_EQ(context->counter("allreduce.algorithm.fused"), 3U);
            EXPECT_EQ(context->counter("broadcast.algorithm.fused"), 3U);
            comm.reset();
            context.reset();
            memory.reset();
        });
    }
}

TEST(LateDevices, DeviceZeroIsKnownByItsSecondBufferAtTheLatest) {
    const ReductionCase wanted = sum_of_floats();
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(1), 0);
        const TestMemory memory(&process.application(), Memory::Device, room);
        const Context context(options);
        const Comm comm(context, rank.exchange());
        const Calls calls(rank, comm, wanted);
        calls.allreduce(memory, 4);
        EXPECT_GE(context.counter("allreduce.algorithm.fused"), 3U);
        EXPECT_EQ(context.counter("allreduce.algorithm.fused") + by_way_of_host(context, "allreduce"), 4U);
        EXPECT_LE(context.counter("device.set_up"), 2U);
    });
}

TEST(LateDevices, ASecondDeviceOfEachRank) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    const ReductionCase wanted = sum_of_floats();
    run_ranks(ranks, [&](Rank& rank) {
        DeviceRank process(rank, machine_with(5), device_of(rank));
        const Context context(options);
        const TestMemory first(&process.application(), Memory::Device, room);
        const Comm comm(context, rank.exchange());
        const Calls calls(rank, comm, wanted);
        calls.allreduce(first, 3);
        process.use(device_of(rank) + 2);
        const TestMemory second(&process.application(), Memory::Device, room);
        calls.allreduce(second, 3);
        calls.broadcast(second, 3);
        EXPECT_EQ(context.counter("device.set_up"), 2U);
        // From one device of the rank to its other one.
        DeviceAllreduceRunner across(rank.rank(), comm.get(), first, second);
        EXPECT_TRUE(across.run(wanted, 0, count, Layout::TwoAllocations));
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), 7U);
        EXPECT_EQ(context.counter("broadcast.algorithm.fused"), 3U);
    });
}

TEST(LateDevices, ASecondDeviceOfOneRankOnly) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    if (face().keeps_memory()) {
        GTEST_SKIP() << "the mover frees memory that was used, which the user of " << face().name << " has excluded";
    }
    const ReductionCase wanted = sum_of_floats();
    for (int mover = 0; mover < ranks; ++mover) {
        run_ranks(ranks, [&](Rank& rank) {
            DeviceRank process(rank, machine_with(4), device_of(rank));
            const Context context(options);
            std::optional<TestMemory> memory(std::in_place, &process.application(), Memory::Device, room);
            const Comm comm(context, rank.exchange());
            const Calls calls(rank, comm, wanted);
            calls.allreduce(*memory, 3);
            if (rank.rank() == mover) {
                memory.reset();
                process.use(3);
                memory.emplace(&process.application(), Memory::Device, room);
            }
            calls.allreduce(*memory, 3);
            calls.broadcast(*memory, 4);
            EXPECT_EQ(context.counter("allreduce.algorithm.fused"), 6U);
            EXPECT_EQ(context.counter("broadcast.algorithm.fused"), 4U);
            memory.reset();
        });
    }
}

}  // namespace
}  // namespace peercoll::test
