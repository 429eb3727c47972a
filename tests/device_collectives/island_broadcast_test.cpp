// SPDX-License-Identifier: BSD-3-Clause
// Broadcast where no device reaches all buffers: the message crosses to each island once.
#include "tests/device_collectives/island_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace peercoll::test {
namespace {

const std::vector<std::size_t> sizes{1, 7, 4'096, 65'535, 65'537, 300'001, 2'000'003};

// From every root. Islands are 0 and 1, and -1 is the host.
void run_broadcasts(const IslandScene& scene, const std::vector<int>& island_of_rank) {
    run_ranks(scene.ranks(), [&](Rank& rank) {
        const DeviceRank process(rank, scene.machine, scene.device(rank));
        const TestMemory memory(&process.application(), scene.memory(rank),
                                sizes.back() + DeviceAllreduceRunner::extra_bytes, scene.device(rank));
        const Context context(scene.all_options());
        const Comm comm(context, rank.exchange());
        meet_devices(comm, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        Crossed expected;
        const Before before(context, "broadcast");
        for (const std::size_t bytes : sizes) {
            for (int root = 0; root < rank.size(); ++root) {
                if (!spread.run(bytes, root)) {
                    return;
                }
                const int from = island_of_rank[static_cast<std::size_t>(root)];
                expected.to_host += from >= 0 ? bytes : 0;
                for (const int island : {0, 1}) {
                    const bool there = std::count(island_of_rank.begin(), island_of_rank.end(), island) > 0;
                    expected.from_host += there && island != from ? bytes : 0;
                }
            }
        }
        before.expect_islands(spread.calls());
        const Crossed all = before.crossed(rank);
        EXPECT_EQ(all.to_host, expected.to_host);
        EXPECT_EQ(all.from_host, expected.from_host);
    });
}

TEST(IslandBroadcast, TheMessageCrossesOnceToEachIsland) {
    run_broadcasts(two_islands({0, 1, 2, 3, 4, 5, 6, 7}), {0, 0, 0, 0, 1, 1, 1, 1});
    run_broadcasts(two_islands({0, 4, 1, 5}), {0, 1, 0, 1});
}

TEST(IslandBroadcast, LittleSharedMemory) {
    run_broadcasts(two_islands({0, 0, 4, 4}, {"segment_size=64KiB"}), {0, 0, 1, 1});
}

TEST(IslandBroadcast, ALyingPairOfDevices) {
    run_broadcasts({machine_of(face().runs_kernels() ? "lost_stores" : "lost_stores_and_copies"), {0, 1, 0, 1}, {}, {}},
                   {0, 1, 0, 1});
}

TEST(IslandBroadcast, TheRootOnTheHostAndTheRestOnDevices) {
    using enum Memory;
    run_broadcasts({machine_with(2), {0, 0, 1, 1}, {Host, Device, Device, Device}, {}}, {-1, 0, 0, 0});
    run_broadcasts({machine_of("two_islands"), {0, 1, 4, 5, 6}, {Device, Device, Device, Pinned, Device}, {}},
                   {0, 0, 1, -1, 1});
}

}  // namespace
}  // namespace peercoll::test
