// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose buffers are in memories of different kinds: on the host and on devices, sent from one and received in the
// other, in memory that cannot be shared, and pinned memory that the system does not copy from process to process.
#include "tests/collectives/algorithm_rules.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

// What rank i sends from and receives in; ranks beyond the end begin at the front again.
struct Kinds {
    std::vector<Memory> source;
    std::vector<Memory> destination;
};

Memory kind_of(const std::vector<Memory>& kinds, int rank) {
    return kinds[static_cast<std::size_t>(rank) % kinds.size()];
}

bool all_shareable(const std::vector<Memory>& kinds, int ranks) {
    return std::all_of(kinds.begin(), kinds.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(kinds)),
                       [](Memory kind) { return face().shareable(kind); });
}

bool any_on_device(const std::vector<Memory>& kinds, int ranks) {
    return std::any_of(kinds.begin(), kinds.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(kinds)), on_device);
}

const std::vector<std::size_t> counts{1, 33, 5'000, 40'001, 300'000, 2'300'001};
constexpr std::size_t most_bytes = 2'300'001 * sizeof(float);

// Sums of all sizes, broadcasts from every root, and the counters that follow from the kinds.
void run_mixed(int ranks, int devices, const Kinds& kinds) {
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, counts.back(), 5);
    run_ranks(ranks, [&](Rank& rank) {
        const int device = rank.rank() % devices;
        const DeviceRank process(rank, machine_with(devices), device);
        const TestMemory source(&process.application(), kind_of(kinds.source, rank.rank()),
                                most_bytes + DeviceAllreduceRunner::extra_bytes, device);
        const TestMemory destination(&process.application(), kind_of(kinds.destination, rank.rank()),
                                     most_bytes + DeviceAllreduceRunner::extra_bytes, device);
        const Context context({"peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), source, destination);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), destination);
        for (const std::size_t count : counts) {
            if (!reduce.run(wanted, 0, count, Layout::TwoAllocations)) {
                return;
            }
            for (int root = 0; root < rank.size(); ++root) {
                if (!spread.run(count * sizeof(float), root)) {
                    return;
                }
            }
        }
        const bool both = any_on_device(kinds.source, ranks) || any_on_device(kinds.destination, ranks);
        const bool fused = all_shareable(kinds.source, ranks) && all_shareable(kinds.destination, ranks);
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), fused ? reduce.calls() : 0);
        EXPECT_EQ(by_way_of_host(context, "allreduce"), both && !fused ? reduce.calls() : 0);
        const bool spread_fused = all_shareable(kinds.destination, ranks);
        EXPECT_EQ(context.counter("broadcast.algorithm.fused"), spread_fused ? spread.calls() : 0);
        EXPECT_EQ(by_way_of_host(context, "broadcast"),
                  any_on_device(kinds.destination, ranks) && !spread_fused ? spread.calls() : 0);
        const bool pinned = std::count(kinds.destination.begin(), kinds.destination.end(), Memory::Pinned) > 0;
        if (pinned) {
            EXPECT_EQ(context.counter("broadcast.algorithm.single_copy"), 0U) << "the system copies no pinned memory";
            EXPECT_EQ(context.counter("allreduce.algorithm.single_copy"), 0U) << "the system copies no pinned memory";
        }
    });
}

TEST(MixedMemory, SomeRanksOnTheHostAndSomeOnDevices) {
    run_mixed(3, 2, {{Memory::Host, Memory::Device, Memory::Device}, {Memory::Host, Memory::Device, Memory::Device}});
}

TEST(MixedMemory, OneRankOnADeviceAndTheRestOnTheHost) {
    run_mixed(3, 1, {{Memory::Device, Memory::Host, Memory::Host}, {Memory::Device, Memory::Host, Memory::Host}});
}

TEST(MixedMemory, SentFromTheHostAndReceivedOnTheDevice) {
    run_mixed(3, 2, {{Memory::Host}, {Memory::Device}});
}

TEST(MixedMemory, SentFromTheDeviceAndReceivedOnTheHost) {
    run_mixed(3, 2, {{Memory::Device}, {Memory::Host}});
}

TEST(MixedMemory, EveryRankTheOtherWayRound) {
    run_mixed(4, 2, {{Memory::Device, Memory::Host}, {Memory::Host, Memory::Device}});
}

TEST(MixedMemory, PinnedHostMemoryOnAllRanks) {
    run_mixed(3, 1, {{Memory::Pinned}, {Memory::Pinned}});
}

TEST(MixedMemory, PinnedAndPlainHostMemory) {
    run_mixed(3, 1, {{Memory::Pinned, Memory::Host, Memory::Host}, {Memory::Pinned, Memory::Host, Memory::Pinned}});
}

TEST(MixedMemory, PinnedHostMemoryAndDevices) {
    run_mixed(3, 2,
              {{Memory::Pinned, Memory::Device, Memory::Pinned}, {Memory::Pinned, Memory::Pinned, Memory::Device}});
}

// How often large messages were copied from process to process where that was asked for.
void run_single_copies(Memory kind, const std::function<void(std::uint64_t copies)>& check) {
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, 2, counts.back(), 5);
    run_ranks(2, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(1), 0);
        const TestMemory memory(&process.application(), kind, most_bytes + DeviceAllreduceRunner::extra_bytes);
        const Context context(
            {"allreduce_algorithm=single_copy", "broadcast_algorithm=single_copy", "peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        EXPECT_TRUE(reduce.run(wanted, 0, counts.back(), Layout::InPlace) && spread.run(most_bytes, 0) &&
                    spread.run(most_bytes, 1));
        check(context.counter("allreduce.algorithm.single_copy") + context.counter("broadcast.algorithm.single_copy"));
    });
}

TEST(MixedMemory, OfTheHostIsCopiedFromProcessToProcessUnlessItIsPinned) {
    if (!machine_allows_single_copy()) {
        GTEST_SKIP() << "this machine lets no process read another's memory";
    }
    run_single_copies(Memory::Host, [](std::uint64_t copies) { EXPECT_EQ(copies, 3U); });
    run_single_copies(Memory::Pinned, [](std::uint64_t copies) { EXPECT_EQ(copies, 0U); });
}

// Tests of kinds that not every vendor has.
#define PEERCOLL_ONLY_WITH(kind) \
    if (!face().has(kind)) GTEST_SKIP() << "applications of " << face().name << " have no " << (kind) << " memory"

TEST(MixedMemory, ManagedMemoryIsStaged) {
    PEERCOLL_ONLY_WITH(Memory::Managed);
    run_mixed(2, 1, {{Memory::Managed}, {Memory::Managed}});
    run_mixed(3, 1, {{Memory::Managed, Memory::Device, Memory::Host}, {Memory::Device, Memory::Managed, Memory::Host}});
}

TEST(MixedMemory, OfTheDefaultPoolIsStaged) {
    PEERCOLL_ONLY_WITH(Memory::DefaultPool);
    run_mixed(3, 2, {{Memory::DefaultPool}, {Memory::DefaultPool}});
    run_mixed(2, 1, {{Memory::Device}, {Memory::DefaultPool, Memory::Device}});
}

TEST(MixedMemory, OfAPoolWithDescriptorsIsFused) {
    PEERCOLL_ONLY_WITH(Memory::SharedPool);
    run_mixed(3, 1, {{Memory::SharedPool}, {Memory::SharedPool}});
    run_mixed(3, 2, {{Memory::SharedPool, Memory::Device}, {Memory::Device, Memory::SharedPool}});
}

TEST(MixedMemory, PhysicalMemoryWithoutHandlesIsStaged) {
    PEERCOLL_ONLY_WITH(Memory::Physical);
    run_mixed(2, 2, {{Memory::Physical}, {Memory::Physical}});
    run_mixed(3, 1, {{Memory::Physical, Memory::SharedPhysical}, {Memory::Device}});
}

TEST(MixedMemory, PhysicalMemoryWithDescriptorsIsFused) {
    PEERCOLL_ONLY_WITH(Memory::SharedPhysical);
    run_mixed(3, 1, {{Memory::SharedPhysical}, {Memory::SharedPhysical}});
    run_mixed(4, 2, {{Memory::SharedPhysical, Memory::SharedPool, Memory::Device}, {Memory::SharedPhysical}});
}

}  // namespace
}  // namespace peercoll::test
