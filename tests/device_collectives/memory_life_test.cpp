// SPDX-License-Identifier: BSD-3-Clause
// Device memory that comes and goes between collectives: what was freed is given back although others had it mapped, an
// address that is used again is another allocation, and communicators leave nothing mapped.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace peercoll::test {
namespace {

const OptionList options{"peer_check=1s", "log=error"};

TEST(MemoryLife, ManyAllocationsOfVaryingSizeDoNotGrowTheMemoryInUse) {
    constexpr int ranks = 2;
    const int rounds = sanitized || !whole_matrix() ? 1'000 : 10'000;
    constexpr std::size_t most = 64 << 10;
    const ReductionCase wanted = make_exact_case(PEERCOLL_INT32, PEERCOLL_SUM, ranks, most / sizeof(int), 3);
    GroupRules rules;
    rules.deadline = std::chrono::seconds(120) * patience;
    run_ranks(
        ranks,
        [&](Rank& rank) {
            const DeviceRank process(rank, machine_with(1, 0), 0);
            const Context context(options);
            const Comm comm(context, rank.exchange());
            std::uint64_t peak = 0;
            for (int round = 0; round < rounds && rank.failures() == 0; ++round) {
                const std::size_t count = 1 + mixed(static_cast<std::uint64_t>(round)) % wanted.count;
                const TestMemory memory(&process.application(), Memory::Device,
                                        count * sizeof(int) + DeviceAllreduceRunner::extra_bytes);
                DeviceAllreduceRunner runner(rank.rank(), comm.get(), memory, memory);
                runner.run(wanted, 0, count, Layout::InPlace);
                if (round % 100 == 99) {
                    peak = std::max(peak, process.bytes_in_use());
                }
            }
            expect_all(context, "allreduce", static_cast<std::uint64_t>(rounds),
                       face().fuses(PEERCOLL_INT32, PEERCOLL_SUM));
            // An owner looks at 16 of its allocations in each collective; those that died since the last look and what
            // the plugin keeps for itself are all that may be in use. All allocations together are 330 MiB.
            EXPECT_LE(peak, std::uint64_t{8} << 20);
        },
        rules);
}

TEST(MemoryLife, AnAddressThatIsUsedAgainIsAnotherAllocation) {
    constexpr int ranks = 3;
    constexpr std::size_t count = 5'000;
    std::vector<ReductionCase> cases;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        cases.push_back(make_exact_case(PEERCOLL_INT64, PEERCOLL_SUM, ranks, count, seed));
    }
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(2), rank.rank() % 2);
        const Context context(options);
        const Comm comm(context, rank.exchange());
        std::set<const std::byte*> seen;
        int again = 0;
        constexpr int rounds = 200;
        for (int round = 0; round < rounds && rank.failures() == 0; ++round) {
            const std::size_t part = 1 + static_cast<std::size_t>(round) * 7 % count;
            const TestMemory source(&process.application(), Memory::Device,
                                    part * sizeof(std::int64_t) + DeviceAllreduceRunner::extra_bytes);
            const TestMemory destination(&process.application(), Memory::Device,
                                         part * sizeof(std::int64_t) + DeviceAllreduceRunner::extra_bytes);
            again += seen.insert(source.address()).second ? 0 : 1;
            DeviceAllreduceRunner runner(rank.rank(), comm.get(), source, destination);
            runner.run(cases[static_cast<std::size_t>(round) % cases.size()], 0, part, Layout::TwoAllocations);
        }
        EXPECT_GT(again, 0) << "no address was used again, so that this test has shown nothing";
        expect_all(context, "allreduce", static_cast<std::uint64_t>(rounds),
                   face().fuses(PEERCOLL_INT64, PEERCOLL_SUM));
    });
}

// What a rank knows of the allocations that it met last must not be mixed up when one buffer of a call is known and the
// other is new.
TEST(MemoryLife, AnyTwoOfManyAllocationsMayBeTheBuffersOfACall) {
    constexpr int ranks = 3;
    constexpr std::size_t allocations = 12;
    constexpr std::size_t count = 500;
    const ReductionCase wanted = make_exact_case(PEERCOLL_INT32, PEERCOLL_SUM, ranks, count, 17);
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(1, 0), 0);
        const Context context(options);
        const Comm comm(context, rank.exchange());
        const auto make = [&process] {
            return std::make_unique<TestMemory>(&process.application(), Memory::Device,
                                                count * sizeof(int) + DeviceAllreduceRunner::extra_bytes);
        };
        std::vector<std::unique_ptr<TestMemory>> memories;
        for (std::size_t i = 0; i < allocations; ++i) memories.push_back(make());
        const TestMemory on_host(&process.application(), Memory::Host,
                                 count * sizeof(int) + DeviceAllreduceRunner::extra_bytes);
        constexpr int rounds = 400;
        int devices_only = 0;
        for (int round = 0; round < rounds && rank.failures() == 0; ++round) {
            // Other ones on each rank. Every second call has results on the host, so that what it tells of its source
            // is not mapped by then when the source comes again.
            const std::uint64_t any = mixed(static_cast<std::uint64_t>(round * ranks + rank.rank()));
            const std::size_t from = any % allocations;
            const std::size_t to = (from + 1 + (any >> 32) % (allocations - 1)) % allocations;
            const bool all_on_devices = round % 2 != 0;
            devices_only += all_on_devices ? 1 : 0;
            DeviceAllreduceRunner runner(rank.rank(), comm.get(), *memories[from],
                                         all_on_devices ? *memories[to] : on_host);
            runner.run(wanted, 0, count, Layout::TwoAllocations);
            memories[(any >> 16) % allocations] = make();
        }
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"),
                  face().fuses(PEERCOLL_INT32, PEERCOLL_SUM) ? static_cast<std::uint64_t>(devices_only) : 0);
    });
}

// The rank that acts for the others holds a mapping; its owner frees the memory and goes on with other memory, and the
// freed memory is given back at the next collectives.
TEST(MemoryLife, WhatIsFreedWhileOthersHaveItMappedIsGivenBack) {
    constexpr int ranks = 2;
    constexpr std::size_t large = 32 << 20;
    const ReductionCase wanted = make_exact_case(PEERCOLL_INT32, PEERCOLL_SUM, ranks, 1'000, 9);
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(1), 0);
        const Context context(options);
        const Comm comm(context, rank.exchange());
        std::optional<TestMemory> first(std::in_place, &process.application(), Memory::Device, large);
        DeviceAllreduceRunner with_first(rank.rank(), comm.get(), *first, *first);
        EXPECT_TRUE(with_first.run(wanted, 0, wanted.count, Layout::InPlace));
        EXPECT_TRUE(rank.exchange(1).meet());
        EXPECT_GE(process.bytes_in_use(), ranks * large);
        EXPECT_TRUE(rank.exchange(1).meet());
        first.reset();
        const TestMemory second(&process.application(), Memory::Device, 64 << 10);
        DeviceAllreduceRunner with_second(rank.rank(), comm.get(), second, second);
        EXPECT_TRUE(with_second.run(wanted, 0, wanted.count, Layout::InPlace));
        EXPECT_TRUE(with_second.run(wanted, 0, wanted.count, Layout::InPlace));
        EXPECT_TRUE(rank.exchange(1).meet());
        EXPECT_LT(process.bytes_in_use(), large);
        EXPECT_TRUE(rank.exchange(1).meet());
    });
}

TEST(MemoryLife, CommunicatorsLeaveNothingMapped) {
    constexpr int ranks = 3;
    constexpr std::size_t count = 1'000;
    const ReductionCase wanted = make_exact_case(PEERCOLL_INT32, PEERCOLL_SUM, ranks, count, 9);
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(2), rank.rank() % 2);
        const Context context(options);
        std::optional<TestMemory> memory(std::in_place, &process.application(), Memory::Device, 8 << 20);
        for (int round = 0; round < 100 && rank.failures() == 0; ++round) {
            const Comm comm(context, rank.exchange());
            DeviceAllreduceRunner reduce(rank.rank(), comm.get(), *memory, *memory);
            DeviceBroadcastRunner spread(rank.rank(), comm.get(), *memory);
            reduce.run(wanted, 0, count, Layout::OneAllocation);
            spread.run(count, round % ranks);
        }
        expect_all(context, "allreduce", 100, face().fuses(PEERCOLL_INT32, PEERCOLL_SUM));
        memory.reset();
        EXPECT_TRUE(rank.exchange(1).meet());
        // The plugin keeps counters of its kernels, but nobody's memory.
        EXPECT_LT(process.bytes_in_use(), face().simulated ? std::uint64_t{1} << 20 : std::uint64_t{8} << 20);
        EXPECT_TRUE(rank.exchange(1).meet());
    });
}

TEST(MemoryLife, MoreMemoryThanMayStayMappedIsMappedOneAfterAnother) {
    constexpr int ranks = 2;
    constexpr std::size_t large = 3 << 20;
    const ReductionCase wanted = make_exact_case(PEERCOLL_INT32, PEERCOLL_SUM, ranks, 1'000, 9);
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(1), 0);
        OptionList small = options;
        small.emplace_back("mapping_cache=4MiB");
        const Context context(small);
        std::vector<std::unique_ptr<TestMemory>> memories;
        for (int i = 0; i < 6; ++i) {
            memories.push_back(std::make_unique<TestMemory>(&process.application(), Memory::Device, large));
        }
        const Comm comm(context, rank.exchange());
        for (int round = 0; round < 60; ++round) {
            const TestMemory& memory = *memories[static_cast<std::size_t>(round) % memories.size()];
            const TestMemory& other = *memories[static_cast<std::size_t>(round * 5 + 1) % memories.size()];
            DeviceAllreduceRunner runner(rank.rank(), comm.get(), memory, other);
            if (!runner.run(wanted, 0, wanted.count, &memory == &other ? Layout::InPlace : Layout::TwoAllocations)) {
                return;
            }
        }
        expect_all(context, "allreduce", 60, face().fuses(PEERCOLL_INT32, PEERCOLL_SUM));
    });
}

}  // namespace
}  // namespace peercoll::test
