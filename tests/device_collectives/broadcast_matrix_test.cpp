// SPDX-License-Identifier: BSD-3-Clause
// Broadcast in device memory from every root: ranks on one and on several devices, sizes around every threshold, at any
// byte, by every executor and algorithm. Also of communicators that run nothing but broadcasts, whose ranks learn of
// each other's devices by meetings alone.
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

struct Scene {
    int ranks;
    int devices;
    std::string executors = "auto";
    std::string algorithm = "auto";
};

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.ranks << "_ranks_on_" << scene.devices << "_executors_" << scene.executors << "_algorithm_"
               << scene.algorithm;
}

std::vector<std::size_t> every_size() {
    std::vector<std::size_t> sizes{0, 1, 3};
    std::vector<std::size_t> thresholds{64U << 10, 256U << 10};
    if (whole_matrix()) {
        thresholds = {512, 8U << 10, 32U << 10, 64U << 10, 128U << 10, 256U << 10};
    }
    for (const std::size_t at : thresholds) {
        sizes.insert(sizes.end(), {at - 1, at, at + 1});
    }
    // Where messages are staged, in pieces.
    sizes.insert(sizes.end(), {(std::size_t{4} << 20) - 1, (std::size_t{4} << 20) + 1, (std::size_t{9} << 20) + 5});
    return sizes;
}

class DeviceBroadcast : public testing::TestWithParam<Scene> {
protected:
    static void run_rank(Rank& rank) {
        const Scene& scene = GetParam();
        const std::vector<std::size_t> sizes = every_size();
        const DeviceRank process(rank, machine_with(scene.devices), rank.rank() * scene.devices / rank.size());
        const TestMemory memory(&process.application(), Memory::Device,
                                sizes.back() + DeviceBroadcastRunner::extra_bytes);
        const Context context(
            {"executors=" + scene.executors, "device_algorithm=" + scene.algorithm, "peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceBroadcastRunner runner(rank.rank(), comm.get(), memory);
        int root = 0;
        for (const std::size_t bytes : sizes) {
            // Every root for small messages, one after another for large ones.
            const int roots = bytes < (1U << 20) ? rank.size() : 1;
            for (int i = 0; i < roots; ++i, root = (root + 1) % rank.size()) {
                if (!runner.run(bytes, root)) {
                    return;
                }
            }
        }
        EXPECT_EQ(context.counter("broadcast.served"), runner.calls());
        if (rank.size() > 1) {
            const bool staged = scene.algorithm == "staged" || !face().shares;
            EXPECT_EQ(context.counter("broadcast.device_staged"), staged ? runner.not_empty() : 0);
            EXPECT_EQ(context.counter("broadcast.algorithm.fused"), staged ? 0 : runner.not_empty());
        }
    }
};

TEST_P(DeviceBroadcast, FromEveryRootAtEverySize) {
    run_ranks(GetParam().ranks, run_rank);
}

std::string name_of(const testing::TestParamInfo<Scene>& info) {
    return testing::PrintToString(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceBroadcast,
                         of_the_matrix<Scene>({Scene{1, 1}, Scene{2, 1}, Scene{3, 1}, Scene{4, 1}, Scene{8, 1},
                                               Scene{2, 2}, Scene{4, 2}, Scene{8, 8}, Scene{3, 2, "one"},
                                               Scene{4, 2, "per_device"}, Scene{4, 2, "per_rank"},
                                               Scene{3, 1, "per_rank"}, Scene{2, 1, "auto", "staged"},
                                               Scene{3, 2, "auto", "staged"}, Scene{3, 2, "auto", "fused"}},
                                              {Scene{1, 1}, Scene{3, 1}, Scene{4, 2}, Scene{8, 8}, Scene{3, 2, "one"},
                                               Scene{4, 2, "per_device", "two_shot"}, Scene{4, 2, "auto", "one_shot"},
                                               Scene{3, 1, "per_rank"}, Scene{3, 2, "auto", "staged"}}),
                         name_of);

}  // namespace
}  // namespace peercoll::test
