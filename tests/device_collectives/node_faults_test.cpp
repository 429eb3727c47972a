// SPDX-License-Identifier: BSD-3-Clause
// Nodes on which something is not as the vendor's library says, or not there at all: results are right by another path,
// and describe_comm says why.
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
    // Before the vendor's library is loaded.
    std::function<void(const Rank&)> prepare;
};

const std::vector<std::size_t> counts{1, 1'001, 100'003, 1'200'000};

// CANN 5.1 names no memory to other processes, so that there is nothing to prove.
bool maps_memory() {
    return face().name != "old_ascend";
}

// What describe_comm says of a pair that reaches each other.
std::string proven() {
    return "proven by kernel stores and copies";
}

// Right results, by `path`, and a line with `words` for each pair of ranks whose devices cannot use each other. Staged
// everywhere where the application's memory cannot be shared.
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
        show_device(context, memory);
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
        for (const std::size_t count : counts) {
            if (!reduce.run(wanted, 0, count, Layout::InPlace) ||
                !spread.run(count, static_cast<int>(count) % rank.size())) {
                return;
            }
        }
        const bool fused = path == Path::Fused && face().shares;
        expect_all(context, "allreduce", reduce.calls(), fused);
        expect_all(context, "broadcast", spread.calls(), fused);
        EXPECT_TRUE(says(description_of(comm), maps_memory() ? words : "staged through host memory: "));
    });
}

TEST(NodeFaults, NoneOnAnHonestNode) {
    run_scene({machine_of("two_devices"), {0, 1, 0}, {}, {}}, Path::Fused, proven());
}

TEST(NodeFaults, LostStores) {
    // Where no kernels run, what they would lose is nobody's loss.
    const Path path = face().runs_kernels() ? Path::Staged : Path::Fused;
    const std::string words = face().runs_kernels() ? "a kernel's stores did not arrive" : proven();
    run_scene({machine_of("lost_stores"), {0, 1}, {}, {}}, path, words);
    run_scene({machine_of("lost_stores"), {0, 1, 0, 1}, {}, {}}, path, words);
}

TEST(NodeFaults, LostStoresAndCopies) {
    run_scene({machine_of("lost_stores_and_copies"), {0, 1, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, DataThatIsLostInOneDirection) {
    run_scene({machine_of("one_way_lost"), {0, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
    run_scene({machine_of("one_way_lost"), {1, 0, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, LostStoresDoNotMatterOnOneDevice) {
    run_scene({machine_of("lost_stores"), {1, 1, 1}, {}, {}}, Path::Fused, proven());
}

TEST(NodeFaults, RefusedHandles) {
    run_scene({machine_of("refused_ipc"), {0, 0}, {}, {}}, Path::Staged, "staged through host memory: ");
    run_scene({machine_of("refused_ipc"), {0, 1, 1}, {}, {}}, Path::Staged, "staged through host memory: ");
}

TEST(NodeFaults, TwoIslands) {
    run_scene({machine_of("two_islands"), {0, 4, 1, 5}, {}, {}}, Path::Staged, "no peer access");
    run_scene({machine_of("two_islands"), {4, 5, 6, 7}, {}, {}}, Path::Fused, proven());
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

TEST(NodeFaults, RanksThatSeeOneDeviceEach) {
    if (face().vendor != Vendor::Cuda) {
        GTEST_SKIP() << "the next test is about the others";
    }
    const auto see_one = [](const Rank& rank) {
        ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(rank.rank()).c_str(), 1);
    };
    run_scene({machine_of("eight_devices"), {0, 0, 0}, {}, see_one}, Path::Fused, "proven by kernel stores and copies");
}

// HIP and ACL open no handles of memory on a device that the process does not see.
TEST(NodeFaults, RanksThatSeeOneDeviceEachWhereTheOthersCannotBeMapped) {
    if (face().vendor == Vendor::Cuda) {
        GTEST_SKIP() << "CUDA's driver is asked for it in the test before";
    }
    const auto see_one = [](const Rank& rank) {
        ::setenv(face().visible_devices(), std::to_string(rank.rank()).c_str(), 1);
    };
    run_scene({machine_of("eight_devices"), {0, 0, 0}, {}, see_one}, Path::Staged, "make all devices visible");
}

TEST(NodeFaults, RanksThatSeeTheDevicesInAnotherOrder) {
    if (face().vendor == Vendor::Ascend) {
        GTEST_SKIP() << "ASCEND_RT_VISIBLE_DEVICES takes ascending numbers only";
    }
    const auto reverse = [](const Rank& rank) {
        ::setenv(face().visible_devices(), rank.rank() == 1 ? "1,0" : "0,1", 1);
    };
    const Scene scene{machine_of("two_devices"), {0, 0, 1}, {}, reverse};
    if (face().name == "hip_7") {  // opens a handle on the device that has its owner's number
        run_scene(scene, Path::Staged, "the owner calls its device");
    } else {
        run_scene(scene, Path::Fused, proven());
    }
}

TEST(NodeFaults, AVetoOfAPair) {
    if (!maps_memory()) {
        GTEST_SKIP() << "CANN 5.1 tells no device's place on PCI, and there is no pair to exclude";
    }
    run_ranks(3, [&](Rank& rank) {
        const DeviceRank process(rank, machine_of("two_devices"), rank.rank() % 2);
        const TestMemory memory(&process.application(), Memory::Device, 8 << 10);
        const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, 3, 1'001, 3);
        const Context context(
            {"peer_veto=" + process->pci_id(0) + "," + process->pci_id(1), "peer_check=1s", "log=error"});
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

TEST(NodeFaults, ProofOffBelievesTheVendorsLibrary) {
    run_scene({machine_of("two_devices"), {0, 1}, {"peer_proof=off"}, {}}, Path::Fused, "not proven");
}

// A library that cannot be used is none: host memory is served, and nothing of the library is needed.
void run_without_devices(const Machine& machine, const std::string& words) {
    constexpr int ranks = 3;
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, 5'000, 3);
    run_ranks(ranks, [&](Rank& rank) {
        const auto application = load_application(face(), machine, false);
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
        EXPECT_TRUE(says(description_of(context), words));
    });
}

std::string off() {
    return std::string(face().runtime()) + ": off, ";
}

TEST(NodeFaults, NoDevice) {
    run_without_devices(machine_of("no_device"), off());
    Machine machine = machine_of("two_devices");
    machine.variant = "no_device";
    run_without_devices(machine, off());
}

TEST(NodeFaults, AStubForALibrary) {
    if (face().vendor == Vendor::Hip) {
        GTEST_SKIP() << "ROCm ships no stubs";
    }
    Machine machine = machine_of("two_devices");
    machine.variant = "stub";
    run_without_devices(machine, off());
}

// Of the right name, with nothing of the vendor's in it.
TEST(NodeFaults, ABrokenLibrary) {
    Machine machine = machine_of("two_devices");
    machine.library = std::string(PEERCOLL_BROKEN_LIBRARIES) + "/" + std::string(face().library);
    run_without_devices(machine, off());
}

TEST(NodeFaults, ADriverThatDoesNotFitTheKernel) {
    if (face().vendor != Vendor::Cuda) {
        GTEST_SKIP() << "a code of CUDA's";
    }
    Machine machine = machine_of("two_devices");
    machine.variant = "driver_mismatch";
    run_without_devices(machine, off());
}

}  // namespace
}  // namespace peercoll::test
