// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not see each other's devices, as where CUDA_VISIBLE_DEVICES gives each of them one of its own: the
// driver maps memory of the others all the same, and the proof decides. Results are right by whatever path.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

enum class Path : std::uint8_t { Fused, Staged };

struct Scene {
    Machine machine;
    std::vector<std::string> visible;  // to each rank
    std::vector<int> devices{};        // as each rank numbers them; empty: 0
    Memory memory = Memory::Device;
};

const std::vector<std::size_t> counts{1, 1'001, 100'003, 1'200'000};

void run_scene(const Scene& scene, Path path, const std::string& words) {
    const int ranks = static_cast<int>(scene.visible.size());
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, counts.back(), 3);
    run_ranks(ranks, [&](Rank& rank) {
        const auto number = static_cast<std::size_t>(rank.rank());
        ::setenv("CUDA_VISIBLE_DEVICES", scene.visible[number].c_str(), 1);
        const DeviceRank process(rank, scene.machine, scene.devices.empty() ? 0 : scene.devices[number]);
        const TestMemory memory(&process.application(), scene.memory,
                                counts.back() * sizeof(float) + DeviceAllreduceRunner::extra_bytes);
        const Context context({"peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        for (const std::size_t count : counts) {
            if (!reduce.run(wanted, 0, count, Layout::InPlace) ||
                !spread.run(count, static_cast<int>(count) % rank.size())) {
                return;
            }
        }
        const bool fused = path == Path::Fused;
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), fused ? reduce.calls() : 0);
        EXPECT_EQ(by_way_of_host(context, "allreduce"), fused ? 0 : reduce.calls());
        EXPECT_EQ(context.counter("broadcast.algorithm.fused"), fused ? spread.calls() : 0);
        EXPECT_EQ(by_way_of_host(context, "broadcast"), fused ? 0 : spread.calls());
        EXPECT_TRUE(says(description_of(comm), words));
    });
}

const char* const proven = "proven by kernel stores and copies";

Machine on(const std::string& node) {
    Machine machine;
    machine.node = node;
    return machine;
}

TEST(HiddenDevices, OfRanksWithOneEach) {
    run_scene({on("devices 2\n"), {"0", "1"}}, Path::Fused, proven);
}

TEST(HiddenDevices, OfFourRanksWithOneEach) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    run_scene({on("devices 4\n"), {"3", "1", "0", "2"}}, Path::Fused, proven);
}

TEST(HiddenDevices, OfWhichSeveralRanksHaveOne) {
    run_scene({on("devices 2\n"), {"0", "1", "1", "0"}}, Path::Fused, proven);
}

TEST(HiddenDevices, FromSomeOfTheRanksOnly) {
    run_scene({on("devices 2\n"), {"0", "0,1", "1,0"}, {0, 1, 1}}, Path::Fused, proven);
    run_scene({on("devices 2\n"), {"0,1", "0,1", "1"}, {0, 1, 0}}, Path::Fused, proven);
}

TEST(HiddenDevices, ThatTheDriverDoesNotMapAreStaged) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    run_scene({on("devices 2\nhidden_import refused\n"), {"0", "1"}}, Path::Staged, "CUDA_VISIBLE_DEVICES");
    // One rank sees all, and no path is used in one direction only.
    run_scene({on("devices 2\nhidden_import refused\n"), {"0", "0,1"}, {0, 1}}, Path::Staged, "CUDA_VISIBLE_DEVICES");
}

TEST(HiddenDevices, ThatTheDriverDoesNotMapDoNotMatterOnOneDevice) {
    run_scene({on("devices 2\nhidden_import refused\n"), {"1", "1", "1"}}, Path::Fused, proven);
}

TEST(HiddenDevices, OutOfReachAreStaged) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    run_scene({on("devices 2\npath all all no\n"), {"0", "1"}}, Path::Staged, "cannot reach each other");
}

TEST(HiddenDevices, WhereStoresAreLostAreStaged) {
    skip_on_real_devices();
    if (IsSkipped()) return;
    run_scene({on("devices 2\npath all all loses_stores\n"), {"0", "1"}}, Path::Staged,
              "a kernel's stores did not arrive");
    run_scene({on("devices 2\npath 1 0 loses_all\n"), {"0", "1"}}, Path::Staged, "staged through host memory");
}

TEST(HiddenDevices, WhoseMemoryIsSharedByDescriptors) {
    run_scene({on("devices 2\n"), {"0", "1"}, {}, Memory::SharedPhysical}, Path::Fused, proven);
    run_scene({on("devices 2\n"), {"0", "1"}, {}, Memory::SharedPool}, Path::Fused, proven);
}

}  // namespace
}  // namespace peercoll::test
