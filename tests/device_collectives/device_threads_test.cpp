// SPDX-License-Identifier: BSD-3-Clause
// Several ranks that are threads of one process: each uses the others' device memory by its pointer, and nothing is
// mapped.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t count = 100'003;
constexpr std::size_t room = count * sizeof(float) + DeviceAllreduceRunner::extra_bytes;

// One process with `threads` ranks, one after another on each of the devices.
void run_threads(int threads, int devices, const std::string& algorithm, const std::string& words) {
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, threads, count, 3);
    run_ranks(1, [&](Rank& process) {
        const DeviceRank application(process, machine_with(devices), 0);
        std::vector<std::thread> ranks;
        for (int rank = 0; rank < threads; ++rank) {
            ranks.emplace_back([&, rank] {
                const int device = rank % devices;
                application->enter(device);
                {
                    const TestMemory source(&application.application(), Memory::Device, room, device);
                    const TestMemory destination(&application.application(), Memory::Device, room, device);
                    const Context context({"device_algorithm=" + algorithm, "peer_check=1s", "log=error"});
                    const Comm comm(context, process.exchange(0, rank, threads));
                    DeviceAllreduceRunner reduce(rank, comm.get(), source, destination);
                    DeviceBroadcastRunner spread(rank, comm.get(), destination);
                    for (const std::size_t part : {std::size_t{1}, std::size_t{3'001}, count}) {
                        if (!reduce.run(wanted, 0, part, Layout::TwoAllocations) ||
                            !spread.run(part, static_cast<int>(part) % threads)) {
                            break;
                        }
                    }
                    const bool staged = algorithm == "staged";
                    EXPECT_EQ(context.counter("allreduce.algorithm.fused"), staged ? 0U : 3U);
                    EXPECT_EQ(context.counter("broadcast.algorithm.fused"), staged ? 0U : 3U);
                    EXPECT_TRUE(says(description_of(comm), words));
                    EXPECT_TRUE(process.exchange(1, rank, threads).meet());
                }
                application->leave(device);
            });
        }
        for (std::thread& rank : ranks) {
            rank.join();
        }
    });
}

TEST(RanksThatAreThreads, OnOneDevice) {
    run_threads(3, 1, "auto", "device path: ");
}

TEST(RanksThatAreThreads, OnTwoDevices) {
    run_threads(2, 2, "auto", "proven by");
    run_threads(4, 2, "auto", "proven by");
}

// The library of a process is one, whatever contexts there are: who leaves first does not close it for the others.
TEST(RanksThatAreThreads, GoOnWhenAnotherContextOfTheProcessEnds) {
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, 2, count, 3);
    run_ranks(2, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(2), rank.rank());
        const TestMemory memory(&process.application(), Memory::Device, room);
        const OptionList options{"peer_check=1s", "log=error"};
        const Context stays(options);
        const Comm comm(stays, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        {
            const Context leaves(options);
            const Comm other(leaves, rank.exchange(1));
            DeviceBroadcastRunner spread(rank.rank(), other.get(), memory);
            EXPECT_TRUE(spread.run(1'000, 0) && spread.run(1'000, 1));
            EXPECT_TRUE(reduce.run(wanted, 0, 1'000, Layout::InPlace));
            EXPECT_TRUE(rank.exchange(2).meet());
        }
        for (const std::size_t part : {std::size_t{1}, count}) {
            EXPECT_TRUE(reduce.run(wanted, 0, part, Layout::InPlace));
        }
        EXPECT_EQ(stays.counter("allreduce.algorithm.fused"), 3U);
    });
}

TEST(RanksThatAreThreads, Staged) {
    run_threads(3, 2, "staged", "device path: ");
}

}  // namespace
}  // namespace peercoll::test
