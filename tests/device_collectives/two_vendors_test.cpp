// SPDX-License-Identifier: BSD-3-Clause
// A node with devices of two vendors, in one communicator with ranks that have none: no device reaches another
// vendor's, so every collective is staged between them through host memory, with exact results; and a communicator of
// one vendor's ranks alone runs on its devices as ever.
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

const std::vector<std::size_t> counts{1, 1'001, 100'003, 1'200'000};

// Two devices of each, at places of their own.
Machine machine_for(const Face& face) {
    std::string node = "devices 2\ndelay 20\n";
    for (int device = 0; device < 2; ++device) {
        const int place = static_cast<int>(face.vendor) * 2 + device + 1;
        node += "pci " + std::to_string(device) + " 0000:" + std::to_string(place) + "0:00.0\n";
        node += "uuid " + std::to_string(device) + " " + std::string(31, '0') + std::to_string(place) + "\n";
    }
    return {.node = node};
}

const OptionList options{"peer_check=1s", "log=error"};

class TwoVendors : public testing::TestWithParam<const char*> {
protected:
    static const Face& other() { return face_named(GetParam()); }
};

// Ranks 0 and 1 have a device of CUDA's, 2 and 3 one of the other vendor's, 4 has none.
TEST_P(TwoVendors, AndAHostRankInOneCommunicatorAreStagedBetween) {
    constexpr int ranks = 5;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, counts.back(), 3);
    run_ranks(ranks, [&](Rank& rank) {
        std::optional<DeviceRank> process;
        if (rank.rank() < 4) {
            const Face& mine = rank.rank() < 2 ? face_named("cuda") : other();
            process.emplace(rank, machine_for(mine), rank.rank() % 2, mine);
        }
        {
            const TestMemory memory(process ? &process->application() : nullptr,
                                    process ? Memory::Device : Memory::Host,
                                    counts.back() * sizeof(float) + DeviceAllreduceRunner::extra_bytes);
            const Context context(options);
            const Comm comm(context, rank.exchange());
            DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
            DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
            for (const std::size_t count : counts) {
                EXPECT_TRUE(reduce.run(wanted, 0, count, Layout::InPlace));
                for (int root = 0; root < ranks; ++root) {
                    EXPECT_TRUE(spread.run(count, root));
                }
            }
            expect_all(context, "allreduce", reduce.calls(), false);
            expect_all(context, "broadcast", spread.calls(), false);
            EXPECT_TRUE(says(description_of(comm), "staged through host memory: "));
        }
        if (!process) {
            leave_with_devices(rank);
        }
    });
}

TEST_P(TwoVendors, HaveTheirOwnCommunicatorsOnTheirDevices) {
    constexpr int ranks = 4;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, 2, counts.back(), 3);
    const ReductionCase of_all = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, 1'001, 3);
    run_ranks(ranks, [&](Rank& rank) {
        const int vendor = rank.rank() / 2;
        const int member = rank.rank() % 2;
        const Face& mine = vendor == 0 ? face_named("cuda") : other();
        const DeviceRank process(rank, machine_for(mine), member, mine);
        const TestMemory memory(&process.application(), Memory::Device,
                                counts.back() * sizeof(float) + DeviceAllreduceRunner::extra_bytes);
        const Context context(options);
        const Comm all(context, rank.exchange());
        const Comm own(context, rank.exchange(1 + vendor, member, 2));
        DeviceAllreduceRunner reduce_all(rank.rank(), all.get(), memory, memory);
        DeviceAllreduceRunner reduce(member, own.get(), memory, memory);
        DeviceBroadcastRunner spread(member, own.get(), memory);
        meet_devices(own, memory);
        std::uint64_t fused = context.counter("allreduce.algorithm.fused");
        for (const std::size_t count : counts) {
            EXPECT_TRUE(reduce_all.run(of_all, 0, of_all.count, Layout::InPlace));
            EXPECT_TRUE(reduce.run(wanted, 0, count, Layout::InPlace) && spread.run(count, 0) && spread.run(count, 1));
        }
        EXPECT_EQ(context.counter("allreduce.algorithm.fused") - fused, reduce.calls());
        EXPECT_EQ(context.counter("broadcast.algorithm.fused"), spread.calls());
        EXPECT_GE(by_way_of_host(context, "allreduce"), reduce_all.calls());
    });
}

// Every process has both vendors' libraries and a buffer on each: sent from one, received in the other, on every rank
// the other way round.
TEST_P(TwoVendors, InOneProcess) {
    constexpr int ranks = 3;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, counts.back(), 3);
    run_ranks(ranks, [&](Rank& rank) {
        const auto first = load_application(face_named("cuda"), machine_for(face_named("cuda")));
        const auto second = load_application(other(), machine_for(other()));
        first->use(rank.rank() % 2);
        second->use(rank.rank() % 2);
        const std::size_t room = counts.back() * sizeof(float) + DeviceAllreduceRunner::extra_bytes;
        const TestMemory on_first(first.get(), Memory::Device, room);
        const TestMemory on_second(second.get(), Memory::Device, room);
        const Context context(options);
        const Comm comm(context, rank.exchange());
        const bool turned = rank.rank() == 1;
        DeviceAllreduceRunner across(rank.rank(), comm.get(), turned ? on_second : on_first,
                                     turned ? on_first : on_second);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), turned ? on_first : on_second);
        for (const std::size_t count : counts) {
            EXPECT_TRUE(across.run(wanted, 0, count, Layout::TwoAllocations));
            EXPECT_TRUE(spread.run(count, static_cast<int>(count) % ranks));
        }
        expect_all(context, "allreduce", across.calls(), false);
        expect_all(context, "broadcast", spread.calls(), false);
        // All of them in one vendor's memory, which its devices reach.
        DeviceAllreduceRunner within(rank.rank(), comm.get(), on_second, on_second);
        EXPECT_TRUE(within.run(wanted, 0, 1'001, Layout::InPlace));
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), 1U);
        EXPECT_TRUE(rank.exchange(1).meet());
    });
}

INSTANTIATE_TEST_SUITE_P(CudaAnd, TwoVendors, testing::Values("hip_6", "ascend"),
                         [](const testing::TestParamInfo<const char*>& info) { return std::string(info.param); });

}  // namespace
}  // namespace peercoll::test
