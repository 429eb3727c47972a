// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in device memory: every type and operation, ranks on one and on several devices, sizes around every
// threshold, in place, in one allocation and in two, at any byte, by every executor and algorithm, against exact
// arithmetic and the counters. The ranks are forked once for each scene and run through its cases.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t margin = 64;  // elements by which the window moves over a case
constexpr std::size_t largest = (9U << 20) + 4096;

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

// Byte counts as counts of elements, without repetition.
std::vector<std::size_t> counts_of(const std::vector<std::size_t>& sizes, std::size_t element_bytes) {
    std::vector<std::size_t> counts;
    for (const std::size_t bytes : sizes) {
        counts.push_back(bytes / element_bytes);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

struct Job {
    ReductionCase wanted;
    std::vector<std::size_t> counts;
};

// Each type with each of its operations: nothing, one element, an odd number, and one page and a bit.
std::vector<Job> every_type_and_operation(int ranks) {
    std::vector<Job> jobs;
    for (peercoll_datatype_t datatype = 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
        for (peercoll_op_t op = 1; op < PEERCOLL_OP_END; ++op) {
            const std::size_t bytes = plugin.datatype_size(datatype);
            const bool left_out = sanitized && (datatype + op) % 4 != 0;
            if (bytes > 0 && mpi_defines(op, datatype) && !left_out) {
                jobs.push_back({make_exact_case(datatype, op, ranks, 131 + margin, 7), {1, 131}});
            }
        }
    }
    jobs.front().counts.insert(jobs.front().counts.begin(), 0);
    return jobs;
}

// A few types that stand for all, at what lies around the thresholds: of packets and slots, of the kernels' tiles, of
// the choice of executors (64, 128 and 256 KiB), of the pieces in which large messages are staged.
std::vector<Job> every_size(int ranks, const std::vector<std::size_t>& thresholds, std::size_t types) {
    const std::vector<std::pair<peercoll_datatype_t, peercoll_op_t>> chosen{{PEERCOLL_FLOAT32, PEERCOLL_SUM},
                                                                            {PEERCOLL_UINT8, PEERCOLL_MAX},
                                                                            {PEERCOLL_BFLOAT16, PEERCOLL_SUM},
                                                                            {PEERCOLL_COMPLEX_FLOAT64, PEERCOLL_PROD}};
    std::vector<std::size_t> sizes{0};
    for (const std::size_t at : thresholds) {
        sizes.insert(sizes.end(), {at - 1, at, at + 16});
    }
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < std::min(types, chosen.size()); ++i) {
        const std::size_t element_bytes = plugin.datatype_size(chosen[i].first);
        std::vector<std::size_t> counts = counts_of(sizes, element_bytes);
        const std::size_t room = counts.back() + margin;
        jobs.push_back({make_exact_case(chosen[i].first, chosen[i].second, ranks, room, 11), std::move(counts)});
    }
    return jobs;
}

class DeviceAllreduce : public testing::TestWithParam<Scene> {
protected:
    void run(const std::vector<Job>& jobs, const std::vector<Layout>& layouts) const {
        GroupRules rules;
        rules.deadline = std::chrono::seconds(120) * patience;
        run_ranks(
            GetParam().ranks, [&](Rank& rank) { run_rank(rank, jobs, layouts); }, rules);
    }

private:
    static void run_rank(Rank& rank, const std::vector<Job>& jobs, const std::vector<Layout>& layouts) {
        const Scene& scene = GetParam();
        const int device = rank.rank() * scene.devices / rank.size();
        const DeviceRank process(rank, machine_with(scene.devices), device);
        std::size_t room = 0;
        for (const Job& job : jobs) {
            room = std::max(room, job.wanted.count * job.wanted.element_bytes);
        }
        const TestMemory source(&process.application(), Memory::Device, room + DeviceAllreduceRunner::extra_bytes);
        const TestMemory destination(&process.application(), Memory::Device,
                                     2 * (room + DeviceAllreduceRunner::extra_bytes));
        const Context context(
            {"executors=" + scene.executors, "device_algorithm=" + scene.algorithm, "groups=none", "peer_check=1s"});
        const Comm comm(context, rank.exchange());
        meet_devices(comm, destination);
        DeviceAllreduceRunner runner(rank.rank(), comm.get(), source, destination);
        std::uint64_t not_folded = 0;
        for (const Job& job : jobs) {
            for (const std::size_t count : job.counts) {
                for (const Layout layout : layouts) {
                    if (!runner.run(job.wanted, runner.calls() * 7 % margin, count, layout)) {
                        return;
                    }
                    not_folded += count > 0 && !face().fuses(job.wanted.datatype, job.wanted.op) ? 1 : 0;
                }
            }
        }
        EXPECT_EQ(context.counter("allreduce.served"), runner.calls() + 1);
        if (rank.size() == 1) {
            return;  // nothing but a copy
        }
        const std::uint64_t all = runner.not_empty() + 1;  // with the sum by which the ranks meet their devices
        not_folded += face().fuses(PEERCOLL_UINT8, PEERCOLL_SUM) ? 0 : 1;
        const std::uint64_t staged = scene.algorithm == "staged" ? all : not_folded;
        EXPECT_EQ(context.counter("allreduce.device_staged"), staged);
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), all - staged);
    }
};

std::string name_of(const testing::TestParamInfo<Scene>& info) {
    return testing::PrintToString(info.param);
}

const std::vector<Layout> all_layouts{Layout::InPlace, Layout::OneAllocation, Layout::TwoAllocations};

class DeviceAllreduceTypes : public DeviceAllreduce {};

TEST_P(DeviceAllreduceTypes, EveryTypeAndOperation) {
    run(every_type_and_operation(GetParam().ranks), {Layout::InPlace, Layout::OneAllocation});
}

TEST_P(DeviceAllreduce, SizesAroundEveryThreshold) {
    if (whole_matrix()) {
        run(every_size(GetParam().ranks, {17, 1064, 8U << 10, 32U << 10, 64U << 10, 128U << 10, 256U << 10}, 4),
            all_layouts);
    } else {
        run(every_size(GetParam().ranks, {1064, 64U << 10, 256U << 10}, 1), all_layouts);
    }
}

class DeviceAllreduceManyRanks : public DeviceAllreduce {};

TEST_P(DeviceAllreduceManyRanks, SizesAroundTheChoiceOfExecutors) {
    run(every_size(GetParam().ranks, {1064, 64U << 10, 256U << 10}, 2), {Layout::InPlace});
}

INSTANTIATE_TEST_SUITE_P(All, DeviceAllreduceManyRanks,
                         of_the_matrix<Scene>({Scene{16, 8}, Scene{12, 1}, Scene{16, 8, "auto", "staged"}},
                                              {Scene{16, 8}}),
                         name_of);

class DeviceAllreduceLarge : public DeviceAllreduce {};

TEST_P(DeviceAllreduceLarge, MessagesOfSeveralPieces) {
    run(every_size(GetParam().ranks, {4U << 20, 9U << 20}, 1), {Layout::InPlace, Layout::TwoAllocations});
}

INSTANTIATE_TEST_SUITE_P(All, DeviceAllreduceTypes,
                         of_the_matrix<Scene>({Scene{1, 1}, Scene{2, 1}, Scene{3, 1}, Scene{4, 2},
                                               Scene{2, 1, "auto", "staged"}, Scene{3, 2, "per_rank"},
                                               Scene{8, 8, "per_device"}},
                                              {Scene{3, 1}, Scene{4, 2}, Scene{2, 1, "auto", "staged"}}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    All, DeviceAllreduce,
    of_the_matrix<Scene>({Scene{1, 1}, Scene{2, 1}, Scene{3, 1}, Scene{4, 1}, Scene{8, 1}, Scene{2, 2}, Scene{4, 2},
                          Scene{8, 8}, Scene{3, 2, "one"}, Scene{4, 2, "per_device"}, Scene{2, 1, "per_rank"},
                          Scene{4, 2, "per_rank"}, Scene{8, 8, "per_device"}, Scene{2, 1, "auto", "staged"},
                          Scene{3, 2, "auto", "staged"}, Scene{4, 2, "per_device", "fused"}},
                         {Scene{1, 1}, Scene{3, 1}, Scene{4, 2}, Scene{3, 2, "one"}, Scene{4, 2, "per_rank"},
                          Scene{8, 8, "per_device"}, Scene{3, 2, "auto", "staged"}, Scene{4, 2, "auto", "one_shot"},
                          Scene{4, 2, "per_device", "two_shot"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(All, DeviceAllreduceLarge,
                         of_the_matrix<Scene>({Scene{2, 1}, Scene{4, 2, "per_device"}, Scene{3, 1, "auto", "staged"},
                                               Scene{2, 2, "auto", "staged"}},
                                              {Scene{4, 2, "per_device"}, Scene{2, 2, "auto", "staged"}}),
                         name_of);

}  // namespace
}  // namespace peercoll::test
