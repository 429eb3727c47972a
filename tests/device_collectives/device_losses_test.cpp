// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die in the middle of collectives on device memory, and memory that is not what the caller says: the others
// get an error within the documented time, and a sentence that names who and where.
#include "tests/device_collectives/test_memory.hpp"
#include "tests/faults/small_job.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::uint64_t check_ms = 200;              // option peer_check in these tests
constexpr std::uint64_t limit_ms = 2000 * patience;  // beyond the option, as documented
enum Word { ready, killed_at };                      // of the group

const Machine two_devices{.node = "devices 2\n"};

// ---- Lost ranks ----

struct Scene {
    std::string collective;
    std::string algorithm;
    std::size_t count;
    int victim;  // rank 0 acts for the others where it can
};

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.collective << "_" << scene.algorithm << "_" << scene.count << "_without_rank_" << scene.victim;
}

class LostDeviceRanks : public testing::TestWithParam<Scene> {
protected:
    static constexpr int ranks = 3;

    static GroupRules rules_that_kill(int victim, std::uint64_t seed) {
        GroupRules rules;
        rules.expected_losses = {victim};
        std::mt19937_64 random(seed);
        const std::uint64_t delay = 1 + random() % 40;
        rules.supervise = [victim, delay, began = std::uint64_t{0}](const Supervision& supervision) mutable {
            if (supervision.word(ready).load() < ranks) {
                return;
            }
            began = began == 0 ? now_in_milliseconds() : began;
            if (supervision.word(killed_at).load() == 0 && now_in_milliseconds() >= began + delay) {
                supervision.word(killed_at).store(now_in_milliseconds());
                kill(supervision.pid(victim), SIGKILL);
            }
        };
        return rules;
    }

    static peercoll_status_t call(const TestMemory& memory, peercoll_comm_t comm) {
        const Scene& scene = GetParam();
        return scene.collective == "allreduce" ? plugin.allreduce(memory.address(), memory.address(), scene.count,
                                                                  PEERCOLL_INT32, PEERCOLL_MAX, comm)
                                               : plugin.broadcast(memory.address(), scene.count * 4, 1, comm);
    }
};

TEST_P(LostDeviceRanks, KilledInTheMiddleOfACollectiveAreNoticedByTheOthers) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(seed_text(seed));
    const Scene& scene = GetParam();
    run_ranks(
        ranks,
        [&](Rank& rank) {
            const auto application = load_application(face(), two_devices);
            application->use(rank.rank() % 2);
            const std::vector<std::int32_t> values(scene.count, rank.rank());
            const TestMemory memory(application.get(), Memory::Device, scene.count * sizeof(values[0]));
            memory.write(0, values.data(), scene.count * sizeof(values[0]));
            const Context context(
                {"device_algorithm=" + scene.algorithm, "peer_check=" + std::to_string(check_ms) + "ms", "log=off"});
            const Comm comm(context, rank.exchange());
            ASSERT_TRUE(succeeded(call(memory, comm.get())));
            rank.word(ready).fetch_add(1);
            peercoll_status_t status = PEERCOLL_SUCCESS;
            while (status == PEERCOLL_SUCCESS) {
                status = call(memory, comm.get());
            }
            const std::uint64_t end = now_in_milliseconds();
            EXPECT_TRUE(refused(status, PEERCOLL_ERR_PEER_LOST));
            EXPECT_LE(end - rank.word(killed_at).load(), check_ms + limit_ms);
            const std::string path = scene.algorithm == "staged" ? ".device_staged" : ".algorithm.fused";
            EXPECT_GT(context.counter(scene.collective + path), 0U);
            // It stays so, at once, and this rank's own memory is still its own.
            EXPECT_TRUE(refused(call(memory, comm.get()), PEERCOLL_ERR_PEER_LOST));
            EXPECT_LE(now_in_milliseconds() - end, 100U * patience);
            std::int32_t value = -1;
            memory.read(0, &value, sizeof(value));
            EXPECT_GE(value, 0);
        },
        rules_that_kill(scene.victim, seed));
}

std::string name_of(const testing::TestParamInfo<Scene>& info) {
    return testing::PrintToString(info.param);
}

INSTANTIATE_TEST_SUITE_P(Scenes, LostDeviceRanks,
                         testing::Values(Scene{"allreduce", "auto", 2, 0}, Scene{"allreduce", "auto", 2, 2},
                                         Scene{"allreduce", "auto", 300'000, 0}, Scene{"allreduce", "auto", 300'000, 1},
                                         Scene{"allreduce", "staged", 2, 0}, Scene{"allreduce", "staged", 900'000, 2},
                                         Scene{"broadcast", "auto", 2, 0}, Scene{"broadcast", "auto", 300'000, 1},
                                         Scene{"broadcast", "staged", 900'000, 0}),
                         name_of);

// ---- Memory that is not what the caller says ----

// After an error on a device its context is lost: nothing of it is freed or expected any more.
struct Statuses {
    peercoll_status_t status[2];
    char sentence[2][400];
};

class WrongMemory : public testing::Test {
protected:
    // What the ranks were told, on both.
    static Statuses gather(const Rank& rank, peercoll_status_t status) {
        struct One {
            peercoll_status_t status;
            char sentence[400];
        } mine{};
        mine.status = status;
        const std::string text = plugin.last_error();
        text.copy(mine.sentence, sizeof(mine.sentence) - 1);
        One all[2]{};
        EXPECT_TRUE(rank.exchange(1).allgather(&mine, all, sizeof(mine)));
        Statuses result{};
        for (int i = 0; i < 2; ++i) {
            result.status[i] = all[i].status;
            std::memcpy(result.sentence[i], all[i].sentence, sizeof(mine.sentence));
        }
        return result;
    }
    static bool contains(const char* sentence, const std::string& words) {
        return std::string(sentence).find(words) != std::string::npos;
    }
};

// Rank 1 says that its buffer has many more bytes than there are.
void run_with_a_buffer_that_is_too_small(Rank& rank, const std::string& algorithm,
                                         const std::function<void(peercoll_status_t)>& check) {
    constexpr std::size_t count = 400'000;
    const auto application = load_application(face(), two_devices);
    application->use(rank.rank());
    const std::size_t bytes = rank.rank() == 1 ? 4096 : count * 4;
    const TestMemory memory(application.get(), Memory::Device, bytes);
    const std::vector<std::byte> zeros(bytes);
    memory.write(0, zeros.data(), bytes);
    const Context context({"device_algorithm=" + algorithm, "peer_check=200ms", "log=off"});
    const Comm comm(context, rank.exchange());
    EXPECT_TRUE(
        succeeded(plugin.allreduce(memory.address(), memory.address(), 10, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
    const std::uint64_t begin = now_in_milliseconds();
    const peercoll_status_t status =
        plugin.allreduce(memory.address(), memory.address(), count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
    EXPECT_LE(now_in_milliseconds() - begin, check_ms + limit_ms);
    check(status);
    EXPECT_TRUE(rank.exchange(2).meet());
}

TEST_F(WrongMemory, ABufferThatIsSmallerThanSaidIsAnErrorOnAllRanks) {
    for (const std::string algorithm : {"auto", "staged"}) {
        SCOPED_TRACE(algorithm);
        run_ranks(2, [&](Rank& rank) {
            run_with_a_buffer_that_is_too_small(rank, algorithm, [&](peercoll_status_t status) {
                const Statuses all = gather(rank, status);
                EXPECT_NE(all.status[1], PEERCOLL_SUCCESS);
                EXPECT_TRUE(contains(all.sentence[1], std::string(face().device_word()) + " 1")) << all.sentence[1];
                EXPECT_EQ(all.status[0], PEERCOLL_ERR_PEER_LOST);
                EXPECT_TRUE(contains(all.sentence[0], "rank 1")) << all.sentence[0];
            });
        });
    }
}

TEST_F(WrongMemory, ThatIsFreedBeforeItsCollectiveHasEndedIsAnErrorThatNamesRankAndDevice) {
    run_ranks(2, [&](Rank& rank) {
        constexpr std::size_t count = 1'000;
        const auto application = load_application(face(), two_devices);
        application->use(rank.rank());
        std::optional<TestMemory> memory(std::in_place, application.get(), Memory::Device, count * 4);
        memory->write(0, std::vector<std::uint8_t>(count * 4).data(), count * 4);
        std::byte* const buffer = memory->address();
        {
            const Context context({"peer_check=200ms", "log=off"});
            const Comm comm(context, rank.exchange());
            EXPECT_TRUE(succeeded(plugin.allreduce(buffer, buffer, count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            peercoll_request_t request = nullptr;
            if (rank.rank() == 0) {  // which acts for both
                ASSERT_TRUE(succeeded(
                    plugin.allreduce_start(buffer, buffer, count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get(), &request)));
                for (int i = 0; i < 100; ++i) {  // until it only waits for the other rank
                    EXPECT_TRUE(succeeded(plugin.context_progress(context.get())));
                }
                memory.reset();
            }
            EXPECT_TRUE(rank.exchange(2).meet());
            const std::uint64_t begin = now_in_milliseconds();
            const peercoll_status_t status =
                rank.rank() == 0 ? plugin.request_wait(&request)
                                 : plugin.allreduce(buffer, buffer, count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
            EXPECT_LE(now_in_milliseconds() - begin, check_ms + limit_ms);
            const Statuses all = gather(rank, status);
            for (int i = 0; i < 2; ++i) {
                EXPECT_NE(all.status[i], PEERCOLL_SUCCESS);
                EXPECT_TRUE(contains(all.sentence[i], "rank 0")) << all.sentence[i];
                // Without kernels the copy is refused as it is started, so that only its own rank knows of the device.
                const bool knows = i == 0 || face().runs_kernels();
                EXPECT_EQ(contains(all.sentence[i], std::string(face().device_word()) + " 0"), knows)
                    << all.sentence[i];
            }
        }
        EXPECT_TRUE(rank.exchange(2).meet());
    });
}

}  // namespace
}  // namespace peercoll::test
