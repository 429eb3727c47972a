// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die in the middle of collectives by islands: the others get an error within the documented time, whatever
// the dead rank was to its island.
#include "tests/device_collectives/island_rank.hpp"
#include "tests/faults/small_job.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::uint64_t check_ms = 200;               // option peer_check in these tests
constexpr std::uint64_t limit_ms = 2'000 * patience;  // beyond the option, as documented
enum Word { ready, killed_at };                       // of the group

class LostIslandRanks : public testing::TestWithParam<int> {};

TEST_P(LostIslandRanks, KilledInTheMiddleOfACollectiveAreNoticedByTheOthers) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(seed_text(seed));
    constexpr std::size_t count = 200'000;
    const int victim = GetParam();
    const std::vector<int> devices{0, 1, 4, 5, 5};  // ranks 0 and 2 act for their islands
    GroupRules rules;
    rules.expected_losses = {victim};
    std::mt19937_64 random(seed);
    rules.supervise = [victim, delay = 1 + random() % 40,
                       began = std::uint64_t{0}](const Supervision& supervision) mutable {
        if (supervision.word(ready).load() < 5) {
            return;
        }
        began = began == 0 ? now_in_milliseconds() : began;
        if (supervision.word(killed_at).load() == 0 && now_in_milliseconds() >= began + delay) {
            supervision.word(killed_at).store(now_in_milliseconds());
            kill(supervision.pid(victim), SIGKILL);
        }
    };
    run_ranks(
        static_cast<int>(devices.size()),
        [&](Rank& rank) {
            const auto application = load_application(face(), machine_of("two_islands"));
            application->use(devices[static_cast<std::size_t>(rank.rank())]);
            const std::vector<std::int32_t> values(count, rank.rank());
            const TestMemory memory(application.get(), Memory::Device, count * sizeof(values[0]),
                                    devices[static_cast<std::size_t>(rank.rank())]);
            memory.write(0, values.data(), count * sizeof(values[0]));
            const Context context({"groups=none", "peer_check=" + std::to_string(check_ms) + "ms", "log=off"});
            const Comm comm(context, rank.exchange());
            const auto reduce = [&] {
                return plugin.allreduce(memory.address(), memory.address(), count, PEERCOLL_INT32, PEERCOLL_MAX,
                                        comm.get());
            };
            ASSERT_TRUE(succeeded(reduce()));
            ASSERT_TRUE(succeeded(reduce()));
            rank.word(ready).fetch_add(1);
            peercoll_status_t status = PEERCOLL_SUCCESS;
            while (status == PEERCOLL_SUCCESS) {
                status = reduce();
            }
            EXPECT_TRUE(refused(status, PEERCOLL_ERR_PEER_LOST));
            EXPECT_LE(now_in_milliseconds() - rank.word(killed_at).load(), check_ms + limit_ms);
            EXPECT_GT(context.counter("allreduce.algorithm.islands"), 0U);
            std::int32_t value = -1;
            memory.read(0, &value, sizeof(value));
            EXPECT_GE(value, 0) << "this rank's own memory is still its own";
        },
        rules);
}

INSTANTIATE_TEST_SUITE_P(WithoutRank, LostIslandRanks, testing::Values(0, 1, 2, 4),
                         [](const testing::TestParamInfo<int>& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace peercoll::test
