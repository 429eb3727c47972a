// SPDX-License-Identifier: BSD-3-Clause
// Allreduce where no device reaches all buffers: each island reduces its own, and its result crosses through host
// memory once.
#include "tests/collectives/processor_groups.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/island_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::test {
namespace {

// Every count up to a few cache lines, and around multiples of everything a chunk could be.
std::vector<std::size_t> counts_up_to(std::size_t most) {
    std::vector<std::size_t> counts{1, 2, 3, 31, 63, 100};
    for (std::size_t power = 256; power < most; power *= 2) {
        counts.insert(counts.end(), {power - 1, power + 1, power + power / 2});
    }
    counts.erase(std::remove_if(counts.begin(), counts.end(), [most](std::size_t count) { return count >= most; }),
                 counts.end());
    counts.push_back(most);
    return counts;
}

// How many bytes of each byte of a message devices write into host memory and read from it.
struct Expected {
    std::uint64_t values_from_devices;
    std::uint64_t values_read_by_devices;
    bool result_crosses;
    std::uint64_t devices_that_take_it;
};

// Right sums of all sizes in all layouts, and between them of host memory, by the algorithms that share the cells.
void run_sums(const IslandScene& scene, std::size_t most, const Expected& expected) {
    const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, scene.ranks(), most, 7);
    run_ranks(scene.ranks(), [&](Rank& rank) {
        const DeviceRank process(rank, scene.machine, scene.device(rank));
        const std::size_t room = 2 * most * sizeof(float) + DeviceAllreduceRunner::extra_bytes;
        const TestMemory source(&process.application(), scene.memory(rank), room, scene.device(rank));
        const TestMemory destination(&process.application(), scene.memory(rank), room, scene.device(rank));
        const Context context(scene.all_options());
        const Comm comm(context, rank.exchange());
        const TestMemory host(nullptr, Memory::Host, most * sizeof(float) + DeviceAllreduceRunner::extra_bytes);
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), source, destination);
        DeviceAllreduceRunner on_host(rank.rank(), comm.get(), host, host);
        meet_devices(comm, destination);
        std::uint64_t bytes = 0;
        const Before before(context, "allreduce");
        for (const std::size_t count : counts_up_to(most)) {
            const auto layout = static_cast<Layout>(reduce.calls() % 3);
            if (!reduce.run(wanted, most - count, count, layout) || !on_host.run(wanted, 0, count, Layout::InPlace)) {
                return;
            }
            bytes += count * sizeof(float);
        }
        before.expect_islands(reduce.calls(), on_host.calls());
        const Crossed all = before.crossed(rank);
        EXPECT_EQ(all.to_host, bytes * (expected.values_from_devices + (expected.result_crosses ? 1 : 0)));
        EXPECT_EQ(all.from_host, bytes * (expected.values_read_by_devices + expected.devices_that_take_it));
    });
}

TEST(IslandAllreduce, EachIslandsResultCrossesOnce) {
    run_sums(two_islands({0, 1, 2, 3, 4, 5, 6, 7}), 70'001, {1, 1, true, 1});
    run_sums(two_islands({0, 1, 4, 5}), 300'001, {1, 1, true, 1});
}

TEST(IslandAllreduce, ManyRanksOnEachDevice) {
    run_sums(two_islands({0, 0, 0, 6, 6, 7}), 30'001, {1, 1, true, 1});
}

TEST(IslandAllreduce, IslandsOfDifferentSizes) {
    run_sums(two_islands({4, 0, 1, 2}), 40'003, {1, 1, true, 1});
    run_sums(two_islands({3, 4, 4, 4, 5}), 40'003, {1, 1, true, 1});
}

TEST(IslandAllreduce, RanksThatAlternateBetweenTheIslands) {
    // ((x0 op x1) op x2) op x3: the sums of the islands alone are no part of it, so single inputs cross.
    run_sums(two_islands({0, 4, 1, 5}), 40'003, {2, 2, true, 1});
}

TEST(IslandAllreduce, LittleSharedMemory) {
    run_sums(two_islands({0, 1, 4, 5}, {"groups=none", "segment_size=64KiB"}), 50'001, {1, 1, true, 1});
}

TEST(IslandAllreduce, ALyingPairOfDevices) {
    IslandScene scene{machine_of(face().runs_kernels() ? "lost_stores" : "lost_stores_and_copies"),
                      {0, 0, 1, 1},
                      {},
                      {"groups=none"}};
    run_sums(scene, 40'003, {1, 1, true, 1});
    scene.devices = {0, 1, 0, 1};
    run_sums(scene, 10'007, {2, 2, true, 1});
}

TEST(IslandAllreduce, PeerAccessOfOneDeviceOnly) {
    run_sums({machine_with(3), {0, 0, 1, 1, 2, 2}, {}, {"groups=none", "peer_access=same_device"}}, 40'009,
             {2, 2, true, 2});
}

TEST(IslandAllreduce, RanksOnTheHostAndOnDevices) {
    using enum Memory;
    run_sums({machine_with(2), {0, 1, 0, 1}, {Host, Device, Device, Device}, {"groups=none"}}, 40'003, {0, 1, true, 0});
    run_sums({machine_with(2), {0, 1, 0, 1, 0}, {Device, Device, Pinned, Device, Host}, {"groups=none"}}, 40'003,
             {0, 2, true, 0});
    run_sums({machine_of("two_islands"), {0, 1, 2, 4, 5}, {Device, Device, Host, Device, Device}, {"groups=none"}},
             40'003, {1, 2, true, 1});
}

TEST(IslandAllreduce, ARankWhoseMemoryCannotBeShared) {
    if (!face().has(Memory::DefaultPool)) {
        GTEST_SKIP() << "an application of this vendor has no such memory";
    }
    using enum Memory;
    // Its own rank reaches it, and from there all others.
    run_sums({machine_with(3), {0, 2, 1, 1}, {Device, DefaultPool, Device, Device}, {"groups=none"}}, 40'009,
             {0, 0, false, 0});
    run_sums({machine_with(4), {0, 2, 3, 1}, {Device, DefaultPool, DefaultPool, Device}, {"groups=none"}}, 40'003,
             {1, 1, true, 1});
    // Another rank acts for its device; it only copies, in pieces.
    run_sums({machine_with(1), {0, 0, 0}, {Device, DefaultPool, Device}, {"groups=none"}}, 40'003, {1, 1, true, 1});
}

// ---- Bits ----

constexpr std::size_t most_rounded = 20'011;

// On `scene` and with `options`, by `path`.
void check_bits(const IslandScene& scene, const std::vector<ReductionCase>& cases, const std::string& path,
                const ProcessorGroups* processors = nullptr) {
    run_ranks(scene.ranks(), [&](Rank& rank) {
        if (processors != nullptr) {
            processors->bind_to(scene.device(rank) / 4);
        }
        const DeviceRank process(rank, scene.machine, scene.device(rank));
        const std::size_t room = 2 * most_rounded * 8 + DeviceAllreduceRunner::extra_bytes;
        const TestMemory source(&process.application(), Memory::Device, room, scene.device(rank));
        const TestMemory destination(&process.application(), Memory::Device, room, scene.device(rank));
        const Context context(scene.all_options());
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), source, destination);
        std::uint64_t by_devices = 0;
        for (const ReductionCase& wanted : cases) {
            for (const std::size_t count : {std::size_t{33}, wanted.count}) {
                if (!reduce.run(wanted, 0, count, Layout::TwoAllocations, Compare::Bits)) {
                    return;
                }
                by_devices += face().folds(wanted.datatype, wanted.op) ? 1 : 0;
            }
        }
        EXPECT_GT(by_devices, 0U);
        EXPECT_EQ(context.counter("allreduce." + path), path == "device_staged" ? reduce.calls() : by_devices);
    });
}

std::vector<ReductionCase> rounding_cases(const std::vector<std::vector<int>>& blocks) {
    std::vector<ReductionCase> cases;
    for (const peercoll_datatype_t datatype :
         {PEERCOLL_FLOAT32, PEERCOLL_FLOAT64, PEERCOLL_FLOAT16, PEERCOLL_BFLOAT16, PEERCOLL_COMPLEX_FLOAT32}) {
        for (const peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_PROD}) {
            cases.push_back(make_rounding_case(datatype, op, blocks, most_rounded, 29));
        }
    }
    return cases;
}

TEST(IslandAllreduce, HasTheBitsOfTheFusedAndOfTheStagedPath) {
    for (const std::vector<int>& devices : {std::vector<int>{0, 1, 2, 4, 5, 6}, std::vector<int>{4, 0, 5, 1, 1, 6}}) {
        const std::vector<ReductionCase> cases = rounding_cases({{0, 1, 2, 3, 4, 5}});
        const OptionList small{"groups=none", "segment_size=256KiB"};
        check_bits(two_islands(devices, small), cases, "algorithm.islands");
        check_bits({machine_of("eight_devices"), devices, {}, small}, cases, "algorithm.fused");
        check_bits(two_islands(devices, {"groups=none", "device_algorithm=staged"}), cases, "device_staged");
    }
}

TEST(IslandAllreduce, HasTheSameBitsWhereIslandsAreTheBlocksOfThePlan) {
    const auto processors = ProcessorGroups::make();
    if (!processors) {
        GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
    }
    const std::vector<ReductionCase> cases = rounding_cases({{0, 2, 4}, {1, 3, 5}});
    const std::vector<int> devices{0, 4, 1, 5, 1, 7};
    const OptionList grouped{"groups=cache", "topology_file=" + processors->topology_file(), "segment_size=256KiB"};
    check_bits(two_islands(devices, grouped), cases, "algorithm.islands", &*processors);
    check_bits({machine_of("eight_devices"), devices, {}, grouped}, cases, "algorithm.fused", &*processors);
}

TEST(IslandAllreduce, OperationsThatDoNotCommuteAndThoseOfPairs) {
    std::vector<ReductionCase> cases;
    for (const auto& [datatype, op] :
         {std::pair(PEERCOLL_INT64, PEERCOLL_REPLACE), std::pair(PEERCOLL_INT32, PEERCOLL_NO_OP),
          std::pair(PEERCOLL_UINT8, PEERCOLL_BXOR), std::pair(PEERCOLL_INT16, PEERCOLL_LAND),
          std::pair(PEERCOLL_PAIR_INT32_INT32, PEERCOLL_MINLOC), std::pair(PEERCOLL_FLOAT16, PEERCOLL_MAX),
          std::pair(PEERCOLL_FLOAT80, PEERCOLL_SUM)}) {
        cases.push_back(make_exact_case(datatype, op, 5, 20'001, 3));
    }
    const IslandScene scene = two_islands({0, 1, 4, 2, 5}, {"groups=none", "segment_size=128KiB"});
    run_ranks(scene.ranks(), [&](Rank& rank) {
        const DeviceRank process(rank, scene.machine, scene.device(rank));
        const TestMemory memory(&process.application(), Memory::Device,
                                20'001 * 16 + DeviceAllreduceRunner::extra_bytes, scene.device(rank));
        const Context context(scene.all_options());
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
        std::uint64_t by_devices = 0;
        for (const ReductionCase& wanted : cases) {
            if (!reduce.run(wanted, 0, wanted.count, Layout::InPlace)) {
                return;
            }
            by_devices += face().folds(wanted.datatype, wanted.op) ? 1 : 0;
        }
        EXPECT_EQ(context.counter("allreduce.algorithm.islands"), by_devices);
        EXPECT_EQ(context.counter("allreduce.device_staged"), reduce.calls() - by_devices)
            << "what no device folds is staged";
    });
}

}  // namespace
}  // namespace peercoll::test
