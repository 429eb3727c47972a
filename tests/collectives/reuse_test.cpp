// SPDX-License-Identifier: BSD-3-Clause
// What a freed communicator leaves to the next one of the same processes: right results whatever went before, and a
// segment that is used again where, and only where, all ranks still have it.
#include "tests/collectives/processor_groups.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace peercoll::test {
namespace {

// Sums rank-dependent numbers, and broadcasts some from `root`; both exactly.
void use(const Comm& comm, const Exchange& exchange, std::size_t count, int root, std::int64_t salt) {
    const std::int64_t ranks = exchange.members();
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), salt + 1000 * exchange.member());
    ASSERT_TRUE(
        succeeded(plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT64, PEERCOLL_SUM, comm.get())));
    const std::int64_t constant = ranks * salt + 1000 * (ranks * (ranks - 1) / 2);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], constant + ranks * static_cast<std::int64_t>(i)) << "element " << i << " of " << count;
    }
    std::iota(values.begin(), values.end(), exchange.member() == root ? salt : -1);
    ASSERT_TRUE(succeeded(plugin.broadcast(values.data(), count * sizeof(values[0]), root, comm.get())));
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], salt + static_cast<std::int64_t>(i)) << "element " << i << " of " << count;
    }
}

void use_once(const Context& context, const Exchange& exchange, std::int64_t salt) {
    const Comm comm(context, exchange);
    use(comm, exchange, 10, static_cast<int>(salt) % exchange.members(), salt);
}

std::uint64_t reused(const Context& context) {
    return context.counter("segment.reused");
}

struct Scene {
    int ranks;
    std::string allreduce;
    std::string broadcast;
};

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.ranks << "_" << scene.allreduce << "_" << scene.broadcast;
}

class Reuse : public testing::TestWithParam<Scene> {};

TEST_P(Reuse, IsExactWhateverCommunicatorsAreKeptMeanwhile) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(seed_text(seed));
    run_ranks(GetParam().ranks, [&](Rank& rank) {
        const Context context({"allreduce_algorithm=" + GetParam().allreduce,
                               "broadcast_algorithm=" + GetParam().broadcast, "peer_check=1s"});
        std::mt19937_64 random(seed);  // the same on all ranks
        const auto pick = [&random](std::size_t below) { return static_cast<std::size_t>(random() % below); };
        constexpr std::size_t counts[] = {1, 50, 300, 5000, 40'000};
        const Exchange exchange = rank.exchange();
        const auto use_a_little = [&](const Comm& comm) {
            for (std::size_t calls = 1 + pick(4); calls > 0; --calls) {
                const std::size_t count = counts[pick(std::size(counts))];
                const int root = static_cast<int>(pick(static_cast<std::size_t>(rank.size())));
                use(comm, exchange, count, root, static_cast<std::int64_t>(pick(100'000)));
            }
        };
        std::deque<std::unique_ptr<Comm>> kept;
        constexpr int cycles = sanitized ? 60 : 300;
        for (int cycle = 0; cycle < cycles && rank.failures() == 0; ++cycle) {
            auto comm = std::make_unique<Comm>(context, exchange);
            use_a_little(*comm);
            if (pick(4) == 0) {
                kept.push_back(std::move(comm));
            }
            if (kept.size() > 3 || (!kept.empty() && pick(6) == 0)) {
                use_a_little(*kept.front());
                kept.pop_front();
            }
        }
        EXPECT_GT(reused(context), cycles / 2U) << "three of four communicators are freed at once";
        EXPECT_LE(context.counter("segment.count"), kept.size() + 2);
    });
}

std::vector<Scene> scenes() {
    std::vector<Scene> all;
    for (const int ranks : {2, 3, 4}) {
        for (const auto& [allreduce, broadcast] :
             {std::pair{"auto", "auto"}, std::pair{"packets", "packets"}, std::pair{"slots", "staged"},
              std::pair{"staged", "grouped"}, std::pair{"single_copy", "single_copy"}}) {
            all.push_back({ranks, allreduce, broadcast});
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Scenes, Reuse, testing::ValuesIn(scenes()),
                         [](const auto& info) { return testing::PrintToString(info.param); });

TEST(ReuseOfSegments, KeepsNoMoreThanTwoAndGivesThemBackWithTheContext) {
    run_ranks(2, [](Rank& rank) {
        const Context context;
        const Exchange exchange = rank.exchange();
        {
            std::vector<std::unique_ptr<Comm>> comms;
            for (int i = 0; i < 5; ++i) {
                comms.push_back(std::make_unique<Comm>(context, exchange));
                use(*comms.back(), exchange, 10, 0, i);
            }
            EXPECT_EQ(context.counter("segment.count"), 5U);
        }
        EXPECT_EQ(context.counter("segment.count"), 2U);
        EXPECT_EQ(reused(context), 0U);
        use_once(context, exchange, 5);
        EXPECT_EQ(context.counter("segment.count"), 2U);
        EXPECT_EQ(reused(context), 1U);
    });
}

TEST(ReuseOfSegments, KeepsNoSegmentThatIsTooLarge) {
    run_ranks(2, [](Rank& rank) {
        const Context context({"segment_size=40MiB"});
        use_once(context, rank.exchange(), 0);
        EXPECT_EQ(context.counter("segment.bytes"), 0U);
        use_once(context, rank.exchange(), 1);
        EXPECT_EQ(reused(context), 0U);
    });
}

TEST(ReuseOfSegments, WaitsForARankThatKeepsItsCommunicator) {
    run_ranks(3, [](Rank& rank) {
        const Context context;
        const Exchange exchange = rank.exchange();
        constexpr int cycles = 10;
        {
            std::vector<std::unique_ptr<Comm>> kept;
            for (int cycle = 0; cycle < cycles; ++cycle) {
                auto comm = std::make_unique<Comm>(context, exchange);
                use(*comm, exchange, 100, cycle % 3, cycle);
                if (rank.rank() == 1) {
                    kept.push_back(std::move(comm));
                }
            }
            EXPECT_EQ(reused(context), 0U);
        }
        use_once(context, exchange, cycles);
        EXPECT_LE(reused(context), 1U) << "only if rank 1 freed the same ones last";
        const std::uint64_t before = reused(context);
        use_once(context, exchange, cycles + 1);
        EXPECT_EQ(reused(context), before + 1);
    });
}

TEST(ReuseOfSegments, IsOfOneContextAndItsOptions) {
    run_ranks(2, [](Rank& rank) {
        // Rank 1 has two contexts, and rank 0's options count in both.
        const Context context({"single_copy=off", "log=off"});
        const Context other({rank.rank() == 0 ? "single_copy=auto" : "order=rank", "log=off"});
        constexpr int cycles = 20;
        for (int cycle = 0; cycle < cycles; ++cycle) {
            use_once(rank.rank() == 1 && cycle % 2 == 1 ? other : context, rank.exchange(), cycle);
        }
        const std::uint64_t all = reused(context) + reused(other);
        EXPECT_EQ(all, cycles - 2U) << "each context of rank 1 needs one segment with rank 0";
        // Both ranks in their second context: rank 0's has nothing in common with anything yet.
        use_once(other, rank.exchange(), cycles);
        EXPECT_EQ(reused(context) + reused(other), all);
    });
}

TEST(ReuseOfSegments, IsOfRanksInTheSameOrder) {
    for (const int ranks : {2, 3}) {
        run_ranks(ranks, [](Rank& rank) {
            const Context context;
            constexpr int cycles = 24;
            for (int cycle = 0; cycle < cycles; ++cycle) {
                const int member = (rank.rank() + cycle) % rank.size();
                use_once(context, rank.exchange(cycle % rank.size(), member, rank.size()), cycle);
            }
            // Two orders fit into the pool; of three in turn, the one that is wanted is always the one just dropped.
            EXPECT_EQ(reused(context), rank.size() == 2 ? cycles - 2U : 0U);
        });
    }
}

TEST(ReuseOfSegments, IsOfTheSameRanksAmongSubsets) {
    run_ranks(4, [](Rank& rank) {
        const Context context;
        // Rows and columns of a square: rank 0 is the first of two in both, and has to tell them apart.
        const int row = rank.rank() / 2;
        const int column = rank.rank() % 2;
        constexpr int cycles = 20;
        for (int cycle = 0; cycle < cycles; ++cycle) {
            use_once(context, rank.exchange(row, column, 2), 10 + row);
            use_once(context, rank.exchange(2 + column, row, 2), 20 + column);
        }
        EXPECT_EQ(reused(context), 2U * (cycles - 1));
    });
}

TEST(ReuseOfSegments, IsNotOfOneThatARankGaveUpOn) {
    run_ranks(2, [](Rank& rank) {
        const Context context({"timeout=50ms", "log=off"});
        const Exchange exchange = rank.exchange();
        {
            const Comm comm(context, exchange);
            use(comm, exchange, 10, 0, 1);
            std::int64_t word = 0;
            Exchange meeting = rank.exchange(1);
            if (rank.rank() == 0) {
                EXPECT_TRUE(refused(plugin.allreduce(&word, &word, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm.get()),
                                    PEERCOLL_ERR_TIMEOUT));
            }
            ASSERT_TRUE(meeting.meet());
            // Rank 1 has not called since, so only the segment tells that this communicator is broken.
        }
        EXPECT_EQ(context.counter("segment.count"), 0U);
        use_once(context, exchange, 2);
        EXPECT_EQ(reused(context), 0U);
        use_once(context, exchange, 3);
        EXPECT_EQ(reused(context), 1U);
    });
}

TEST(ReuseOfSegments, IsNotForAForkedChild) {
    GroupRules rules;
    rules.look_for_leaks = false;  // the child ends without its parent's clean-up
    run_ranks(
        2,
        [](Rank& rank) {
            const Context context;
            use_once(context, rank.exchange(), 1);
            pid_t child = -1;
            if (rank.rank() == 1) {
                child = fork();
                if (child == 0) {
                    use_once(context, rank.exchange(1), 2);
                    _exit(rank.failures() == 0 && reused(context) == 0 ? 0 : 1);
                }
            } else {
                use_once(context, rank.exchange(1), 2);
                EXPECT_EQ(reused(context), 0U) << "rank 1 is another process now";
            }
            if (child > 0) {
                int status = -1;
                ASSERT_EQ(waitpid(child, &status, 0), child);
                EXPECT_EQ(status, 0);
            }
            use_once(context, rank.exchange(), 3);
            EXPECT_EQ(reused(context), 1U) << "and this is the one it was first";
        },
        rules);
}

TEST(ReuseOfSegments, IsForOneThreadAtATime) {
    run_ranks(2, [](Rank& rank) {
        const Context context;
        std::vector<std::thread> running;
        for (int thread = 0; thread < 3; ++thread) {
            running.emplace_back([&, thread] {
                for (int cycle = 0; cycle < (sanitized ? 20 : 150); ++cycle) {
                    use_once(context, rank.exchange(thread), 1000 * thread + cycle);
                }
            });
        }
        for (std::thread& thread : running) {
            thread.join();
        }
        EXPECT_LE(context.counter("segment.count"), 2U);
    });
}

void collect_line(const char* line, void* user) {
    static_cast<std::vector<std::string>*>(user)->emplace_back(line);
}

TEST(ReuseOfSegments, LooksAgainWhereTheRanksAre) {
    run_ranks(4, [](Rank& rank) {
        const auto processors = ProcessorGroups::make();
        if (!processors) {
            GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
        }
        const Context context({"topology_file=" + processors->topology_file()});
        const Exchange exchange = rank.exchange();
        for (int cycle = 0; cycle < 30; ++cycle) {
            const int neighbours = cycle % 3;  // 1: ranks 0 1 together and 2 3; 2: ranks 0 2 and 1 3; 0: all in one
            processors->bind_to(neighbours == 0 ? 0 : neighbours == 1 ? rank.rank() / 2 : rank.rank() % 2);
            const Comm comm(context, exchange);
            use(comm, exchange, 20'000, cycle % 4, cycle);
            std::vector<std::string> lines;
            ASSERT_TRUE(succeeded(plugin.describe_comm(comm.get(), &collect_line, &lines)));
            const auto says = [&lines](const std::string& text) {
                return std::find(lines.begin(), lines.end(), text) != lines.end();
            };
            EXPECT_EQ(says("  group 0: ranks 0 1"), neighbours == 1);
            EXPECT_EQ(says("  group 1: ranks 1 3"), neighbours == 2);
            EXPECT_EQ(says("  group 0: ranks 0 1 2 3"), neighbours == 0);
        }
        EXPECT_EQ(reused(context), 29U);
    });
}

}  // namespace
}  // namespace peercoll::test
