// SPDX-License-Identifier: BSD-3-Clause
// Random traffic: collectives of all sizes between memories of all kinds, which come and go, in two communicators at
// once, with requests under way. What has happened before must not matter to what happens next.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t most = 200'000;  // bytes of a message
constexpr std::size_t room = 2 * most + DeviceAllreduceRunner::extra_bytes;

struct Scene {
    int ranks;
    int devices;
    OptionList options;
    const char* name;
};

std::vector<ReductionCase> cases_for(int ranks) {
    std::vector<ReductionCase> cases;
    const std::vector<std::pair<peercoll_datatype_t, peercoll_op_t>> chosen{
        {PEERCOLL_FLOAT32, PEERCOLL_SUM},
        {PEERCOLL_UINT8, PEERCOLL_BXOR},
        {PEERCOLL_FLOAT16, PEERCOLL_MAX},
        {PEERCOLL_FLOAT80, PEERCOLL_SUM},
        {PEERCOLL_PAIR_INT32_INT32, PEERCOLL_MINLOC},
        {PEERCOLL_INT64, PEERCOLL_REPLACE}};
    for (const auto& [datatype, op] : chosen) {
        cases.push_back(make_exact_case(datatype, op, ranks, most / plugin.datatype_size(datatype), 5));
    }
    return cases;
}

// A rank's buffers; each is replaced now and then by one of another kind.
class Buffers {
public:
    Buffers(const DeviceRank& process, std::uint64_t seed) : process_(&process), random_(seed) {
        for (auto& one : memories_) {
            one = make();
        }
    }
    void replace_one() { memories_[random_() % memories_.size()] = make(); }
    // Two different ones, and a third.
    const TestMemory& any(std::size_t which) const { return *memories_[which % memories_.size()]; }
    std::uint64_t random() { return random_(); }

private:
    std::unique_ptr<TestMemory> make() {
        // Device memory more often than the others, and instead of what the vendor does not have.
        constexpr Memory kinds[] = {Memory::Device,  Memory::Device,      Memory::Device,     Memory::Host,
                                    Memory::Pinned,  Memory::Managed,     Memory::Device,     Memory::Device,
                                    Memory::Device,  Memory::DefaultPool, Memory::SharedPool, Memory::SharedPhysical,
                                    Memory::Physical};
        const Memory kind = kinds[random_() % std::size(kinds)];
        return std::make_unique<TestMemory>(&process_->application(), face().has(kind) ? kind : Memory::Device, room,
                                            process_->device());
    }

    const DeviceRank* process_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<TestMemory>> memories_{5};
};

// A broadcast that is under way while other calls are made.
class Background {
public:
    Background(const Rank& rank, peercoll_comm_t comm, const TestMemory& memory, int root, std::uint64_t seed)
        : memory_(&memory), message_(3'000) {
        for (std::size_t i = 0; i < message_.size(); ++i) {
            message_[i] = static_cast<std::byte>(mixed(seed + i));
        }
        const std::vector<std::byte> stale(message_.size());
        memory.write(0, (rank.rank() == root ? message_ : stale).data(), message_.size());
        EXPECT_TRUE(succeeded(plugin.broadcast_start(memory.address(), message_.size(), root, comm, &request_)));
    }
    void finish() {
        EXPECT_TRUE(succeeded(plugin.request_wait(&request_)));
        std::vector<std::byte> received(message_.size());
        memory_->read(0, received.data(), received.size());
        EXPECT_EQ(received, message_);
    }

private:
    const TestMemory* memory_;
    std::vector<std::byte> message_;
    peercoll_request_t request_ = nullptr;
};

class DeviceTraffic : public testing::TestWithParam<Scene> {};

TEST_P(DeviceTraffic, OfEveryKindIsRight) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(seed_text(seed));
    const Scene& scene = GetParam();
    const std::vector<ReductionCase> cases = cases_for(scene.ranks);
    run_ranks(scene.ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(scene.devices, 50), rank.rank() % scene.devices);
        OptionList options{"peer_check=1s", "log=error"};
        options.insert(options.end(), scene.options.begin(), scene.options.end());
        const Context context(options);
        Buffers buffers(process, mixed(seed + static_cast<std::uint64_t>(rank.rank())));
        const TestMemory background(&process.application(), rank.rank() % 2 == 0 ? Memory::Device : Memory::Host, room);
        const Comm first(context, rank.exchange(0));
        const Comm second(context, rank.exchange(1));
        std::mt19937_64 common(seed);  // gives the same on all ranks
        for (int round = 0; round < 150 && rank.failures() == 0; ++round) {
            const peercoll_comm_t comm = (common() % 3 == 0 ? second : first).get();
            const ReductionCase& wanted = cases[common() % cases.size()];
            const std::size_t limit = std::size_t{1} << common() % 18;
            const std::size_t bytes = common() % std::min(limit + 1, most);
            const int root = static_cast<int>(common() % static_cast<std::uint64_t>(rank.size()));
            std::unique_ptr<Background> under_way;
            if (common() % 3 == 0) {
                under_way = std::make_unique<Background>(rank, first.get(), background, root, seed + common());
            }
            const std::size_t at = buffers.random();
            const auto layout = static_cast<Layout>(common() % 3);
            if (common() % 2 == 0) {
                DeviceAllreduceRunner runner(rank.rank(), comm, buffers.any(at), buffers.any(at + 1));
                runner.run(wanted, 0, bytes / wanted.element_bytes, layout);
            } else {
                DeviceBroadcastRunner runner(rank.rank(), comm, buffers.any(at));
                runner.run(bytes, root);
            }
            if (under_way) {
                under_way->finish();
            }
            if (buffers.random() % 2 == 0) {
                buffers.replace_one();
            }
        }
        const std::uint64_t on_devices =
            context.counter("allreduce.algorithm.fused") + by_way_of_host(context, "allreduce");
        EXPECT_GT(on_devices, 0U);
    });
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceTraffic,
    testing::Values(Scene{2, 1, {}, "two_ranks"}, Scene{3, 2, {}, "three_ranks"},
                    Scene{4, 2, {"executors=per_device"}, "four_ranks_per_device"},
                    Scene{4, 2, {"executors=per_rank"}, "four_ranks_per_rank"},
                    Scene{3, 2, {"device_algorithm=staged"}, "three_ranks_staged"},
                    Scene{3, 1, {"mapping_cache=1MiB", "segment_size=64KiB"}, "three_ranks_with_little_memory"}),
    [](const testing::TestParamInfo<Scene>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace peercoll::test
