// SPDX-License-Identifier: BSD-3-Clause
// Data whose sum and product depend on the association: results in device memory have the same bits on all ranks, on
// every path, and the bits that host memory gets from the same communicator.
#include "tests/collectives/processor_groups.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

using Blocks = std::vector<std::vector<int>>;

constexpr std::size_t most = 70'001;  // elements: several executors share the work beyond 256 KiB
constexpr int ranks = 6;              // three in each of two groups, so that their order inside shows

std::vector<ReductionCase> rounding_cases(const Blocks& blocks) {
    std::vector<ReductionCase> cases;
    for (const peercoll_datatype_t datatype : {PEERCOLL_FLOAT16, PEERCOLL_BFLOAT16, PEERCOLL_FLOAT32, PEERCOLL_FLOAT64,
                                               PEERCOLL_COMPLEX_FLOAT32, PEERCOLL_COMPLEX_FLOAT64}) {
        for (const peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_PROD}) {
            const bool large = op == PEERCOLL_SUM && (datatype == PEERCOLL_FLOAT32 || datatype == PEERCOLL_FLOAT16);
            cases.push_back(make_rounding_case(datatype, op, blocks, large ? most : 1'001, 23));
        }
    }
    return cases;
}

struct Path {
    const char* executors;
    const char* algorithm;
};
constexpr Path paths[] = {
    {"auto", "auto"}, {"one", "fused"}, {"per_device", "fused"}, {"per_rank", "fused"}, {"auto", "staged"}};

// All paths give the bits of `cases`, and so does host memory.
void check_bits(Rank& rank, const std::vector<ReductionCase>& cases, const OptionList& options, int devices) {
    const DeviceRank process(rank, machine_with(devices), rank.rank() % devices);
    const std::size_t room = most * 16;
    const TestMemory source(&process.application(), Memory::Device, room + DeviceAllreduceRunner::extra_bytes);
    const TestMemory destination(&process.application(), Memory::Device, room + DeviceAllreduceRunner::extra_bytes);
    const TestMemory host(nullptr, Memory::Host, room + DeviceAllreduceRunner::extra_bytes);
    for (const Path& path : paths) {
        OptionList all = options;
        all.insert(all.end(), {std::string("executors=") + path.executors,
                               std::string("device_algorithm=") + path.algorithm, "peer_check=1s", "log=error"});
        const Context context(all);
        const Comm comm(context, rank.exchange());
        DeviceAllreduceRunner on_device(rank.rank(), comm.get(), source, destination);
        DeviceAllreduceRunner on_host(rank.rank(), comm.get(), host, host);
        std::uint64_t folded = 0;
        for (const ReductionCase& wanted : cases) {
            SCOPED_TRACE(std::string("executors ") + path.executors + ", algorithm " + path.algorithm);
            const Layout layout = on_device.calls() % 2 == 0 ? Layout::TwoAllocations : Layout::InPlace;
            if (!on_device.run(wanted, 0, wanted.count, layout, Compare::Bits) ||
                !on_host.run(wanted, 0, wanted.count, Layout::InPlace, Compare::Bits)) {
                return;
            }
            EXPECT_EQ(on_device.result(), on_host.result());
            folded += face().fuses(wanted.datatype, wanted.op) ? 1 : 0;
        }
        const std::uint64_t fused = std::string(path.algorithm) == "staged" ? 0 : folded;
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), fused);
        EXPECT_EQ(context.counter("allreduce.device_staged"), on_device.calls() - fused);
    }
}

TEST(SameBits, OnDevicesAndOnTheHostInOneGroup) {
    const std::vector<ReductionCase> cases = rounding_cases({{0, 1, 2, 3, 4, 5}});
    for (const int devices : {1, 2, 3}) {
        run_ranks(ranks, [&](Rank& rank) { check_bits(rank, cases, {"groups=none"}, devices); });
    }
}

TEST(SameBits, OnDevicesAndOnTheHostInTwoGroups) {
    const auto processors = ProcessorGroups::make();
    if (!processors) {
        GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
    }
    const std::vector<ReductionCase> cases = rounding_cases({{0, 2, 4}, {1, 3, 5}});
    run_ranks(ranks, [&](Rank& rank) {
        processors->bind_to(rank.rank() % 2);
        check_bits(rank, cases, {"groups=cache", "topology_file=" + processors->topology_file()}, 2);
    });
}

TEST(SameBits, InRankOrderWhateverTheGroups) {
    const auto processors = ProcessorGroups::make();
    if (!processors) {
        GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
    }
    const std::vector<ReductionCase> cases = rounding_cases({{0, 1, 2, 3, 4, 5}});
    run_ranks(ranks, [&](Rank& rank) {
        processors->bind_to(rank.rank() % 2);
        check_bits(rank, cases, {"order=rank", "groups=cache", "topology_file=" + processors->topology_file()}, 2);
    });
}

}  // namespace
}  // namespace peercoll::test
