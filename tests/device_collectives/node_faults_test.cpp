// SPDX-License-Identifier: BSD-3-Clause
// Nodes on which something is not as the driver says, or not there at all: results are right by another path, and
// describe_comm says why.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

enum class Path : std::uint8_t { Fused, Staged };

// Device of each rank.
using Devices = std::vector<int>;

struct Scene {
    Machine machine;
    Devices devices;
    OptionList options;
    // Before the driver is loaded.
    std::function<void(const Rank&)> prepare;
};

const std::vector<std::size_t> counts{1, 1'001, 100'003, 1'200'000};

// Right results, by `path`, and a line with `words` for each pair of ranks whose devices cannot use each other.
void run_scene(const Scene& scene, Path path, const std::string& words) {
    const int ranks = static_cast<int>(scene.devices.size());
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, counts.back(), 3);
    run_ranks(ranks, [&](Rank& rank) {
        if (scene.prepare) {
            scene.prepare(rank);
        }
        const DeviceRank process(rank, scene.machine, scene.devices[static_cast<std::size_t>(rank.rank())]);
        const TestMemory memory(&process.application(), Memory::Device,
                                counts.back() * sizeof(float) + DeviceAllreduceRunner::extra_bytes);
        OptionList options{"peer_check=1s", "log=error"};
        options.insert(options.end(), scene.options.begin(), scene.options.end());
        const Context context(options);
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

TEST(NodeFaults, NoneOnAnHonestNode) {
    run_scene({machine_of("two_devices"), {0, 1, 0}, {}, {}}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, LostStores) {
    run_scene({machine_of("lost_stores"), {0, 1}, {}, {}}, Path::Staged, "a kernel's stores did not arrive");
    run_scene({machine_of("lost_stores"), {0, 1, 0, 1}, {}, {}}, Path::Staged, "a kernel's stores did not arrive");
}

TEST(NodeFaults, LostStoresAndCopies) {
    run_scene({machine_of("lost_stores_and_copies"), {0, 1, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, DataThatIsLostInOneDirection) {
    run_scene({machine_of("one_way_lost"), {0, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
    run_scene({machine_of("one_way_lost"), {1, 0, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, LostStoresDoNotMatterOnOneDevice) {
    run_scene({machine_of("lost_stores"), {1, 1, 1}, {}, {}}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, RefusedHandles) {
    run_scene({machine_of("refused_ipc"), {0, 0}, {}, {}}, Path::Staged, "staged through host memory: ");
    run_scene({machine_of("refused_ipc"), {0, 1, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, TwoIslands) {
    run_scene({machine_of("two_islands"), {0, 4, 1, 5}, {}, {}}, Path::Staged, "no peer access");
    run_scene({machine_of("two_islands"), {4, 5, 6, 7}, {}, {}}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, FewPeersOfEachDevice) {
    const int ranks = 8;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, 1'001, 3);
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_of("few_peers"), rank.rank());
        const TestMemory memory(&process.application(), Memory::Device, 8 << 10);
        const Context context({"peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        for (int round = 0; round < 10; ++round) {
            if (!reduce.run(wanted, 0, wanted.count, Layout::InPlace) || !spread.run(1'001, round % ranks)) {
                return;
            }
        }
        EXPECT_EQ(context.counter("allreduce.served"), 10U);
        EXPECT_EQ(context.counter("allreduce.algorithm.fused") + by_way_of_host(context, "allreduce"), 10U);
    });
}

TEST(NodeFaults, AnOldDriver) {
    Machine machine = machine_of("two_devices");
    machine.library = PEERCOLL_SIMULATED_OLD_DRIVER;
    run_scene({machine, {0, 0, 0}, {}, {}}, Path::Fused, "proven by kernel stores and copies");
    run_scene({machine, {0, 1}, {}, {}}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, RanksThatSeeOneDeviceEach) {
    const auto see_one = [](const Rank& rank) {
        ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(rank.rank()).c_str(), 1);
    };
    run_scene({machine_of("eight_devices"), {0, 0, 0}, {}, see_one}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, RanksThatSeeTheDevicesInAnotherOrder) {
    const auto reverse = [](const Rank& rank) {
        ::setenv("CUDA_VISIBLE_DEVICES", rank.rank() == 1 ? "1,0" : "0,1", 1);
    };
    run_scene({machine_of("two_devices"), {0, 0, 1}, {}, reverse}, Path::Fused, "proven by kernel stores and copies");
}

TEST(NodeFaults, AVetoOfAPair) {
    // Named as the driver names them, so that the test does not know the simulator's numbers.
    const auto pci_id = [](const DeviceRank& process, int device) {
        std::vector<char> text(16);
        EXPECT_EQ(process->call("cuDeviceGetPCIBusId", text.data(), static_cast<int>(text.size()), device),
                  cuda::code::success);
        return std::string(text.data());
    };
    run_ranks(3, [&](Rank& rank) {
        const DeviceRank process(rank, machine_of("two_devices"), rank.rank() % 2);
        const TestMemory memory(&process.application(), Memory::Device, 8 << 10);
        const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, 3, 1'001, 3);
        const Context context(
            {"peer_veto=" + pci_id(process, 0) + "," + pci_id(process, 1), "peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        reduce.run(wanted, 0, wanted.count, Layout::InPlace);
        reduce.run(wanted, 0, wanted.count, Layout::InPlace);
        EXPECT_EQ(by_way_of_host(context, "allreduce"), 2U);
        EXPECT_TRUE(says(description_of(comm), "an option excludes this pair of devices"));
    });
}

TEST(NodeFaults, PeerAccessOfOneDeviceOnly) {
    const OptionList same_device{"peer_access=same_device"};
    run_scene({machine_of("two_devices"), {0, 0, 0}, same_device, {}}, Path::Fused, "proven by");
    run_scene({machine_of("two_devices"), {0, 0, 1}, same_device, {}}, Path::Staged, "only ranks on one device");
}

TEST(NodeFaults, PeerAccessOff) {
    run_scene({machine_of("two_devices"), {0, 0}, {"peer_access=off"}, {}}, Path::Staged,
              "the option for peer access is off");
}

TEST(NodeFaults, ProofOffBelievesTheDriver) {
    run_scene({machine_of("two_devices"), {0, 1}, {"peer_proof=off"}, {}}, Path::Fused, "not proven");
}

// A driver that cannot be used is none: host memory is served, and nothing of the driver is needed.
void run_without_devices(const Machine& machine, const std::string& words) {
    constexpr int ranks = 3;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, 5'000, 3);
    run_ranks(ranks, [&](Rank& rank) {
        const Application application(machine, false);
        const TestMemory memory(nullptr, Memory::Host, 64 << 10);
        const Context context({"peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        for (int round = 0; round < 5; ++round) {
            if (!reduce.run(wanted, 0, wanted.count, Layout::InPlace) || !spread.run(5'000, round % ranks)) {
                return;
            }
        }
        EXPECT_EQ(context.counter("allreduce.served"), 5U);
        EXPECT_EQ(context.counter("device.set_up"), 0U);
        std::vector<std::string> lines;
        const peercoll_line_fn keep = [](const char* line, void* user) {
            static_cast<std::vector<std::string>*>(user)->emplace_back(line);
        };
        EXPECT_TRUE(succeeded(plugin.describe_devices(context.get(), keep, &lines)));
        EXPECT_TRUE(says(lines, words));
    });
}

TEST(NodeFaults, NoDevice) {
    run_without_devices(machine_of("no_device"), "cuda: off, ");
    Machine machine = machine_of("two_devices");
    machine.variant = "no_device";
    run_without_devices(machine, "cuda: off, ");
}

TEST(NodeFaults, AStubForADriver) {
    Machine machine = machine_of("two_devices");
    machine.variant = "stub";
    run_without_devices(machine, "cuda: off, ");
}

TEST(NodeFaults, ADriverThatDoesNotFitTheKernel) {
    Machine machine = machine_of("two_devices");
    machine.variant = "driver_mismatch";
    run_without_devices(machine, "cuda: off, ");
}

}  // namespace
}  // namespace peercoll::test
