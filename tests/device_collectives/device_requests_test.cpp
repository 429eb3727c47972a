// SPDX-License-Identifier: BSD-3-Clause
// Started and persistent collectives on device buffers, blocking calls between them, and several threads with a
// communicator each.
#include "tests/collectives/reference.hpp"
#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr int ranks = 3;
constexpr std::size_t count = 20'000;
constexpr std::size_t bytes = count * sizeof(std::int32_t);

// Numbers of a rank in a round, and their sum over all ranks.
std::int32_t number(int rank, int round, std::size_t i) {
    return static_cast<std::int32_t>(i) * (rank + 1) + round;
}
std::int32_t sum_of_numbers(int round, std::size_t i) {
    std::int32_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        sum += number(rank, round, i);
    }
    return sum;
}

void fill(const TestMemory& memory, int rank, int round) {
    std::vector<std::int32_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = number(rank, round, i);
    }
    memory.write(0, numbers.data(), bytes);
}

// What an allreduce has left in `memory`, or a broadcast from `root`.
void expect_sum(const TestMemory& memory, int round) {
    std::vector<std::int32_t> numbers(count);
    memory.read(0, numbers.data(), bytes);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(numbers[i], sum_of_numbers(round, i)) << "element " << i << " of round " << round;
    }
}
void expect_message(const TestMemory& memory, int root, int round) {
    std::vector<std::int32_t> numbers(count);
    memory.read(0, numbers.data(), bytes);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(numbers[i], number(root, round, i)) << "element " << i << " of round " << round;
    }
}

class DeviceRequests : public testing::TestWithParam<std::string> {
protected:
    OptionList options() const { return {"device_algorithm=" + GetParam(), "peer_check=1s", "log=error"}; }
    Memory kind_of(int i) const { return i % 3 == 2 ? Memory::Host : Memory::Device; }

    // `body` has six memories of the rank, some of the host's.
    void on_ranks(
        const std::function<void(Rank&, const Context&, const Comm&, const std::vector<TestMemory*>&)>& body) const {
        run_ranks(ranks, [&](Rank& rank) {
            const DeviceRank process(rank, machine_with(2, 100), rank.rank() % 2);
            std::vector<std::unique_ptr<TestMemory>> owned;
            std::vector<TestMemory*> memories;
            for (int i = 0; i < 6; ++i) {
                owned.push_back(std::make_unique<TestMemory>(&process.application(), kind_of(i), bytes));
                memories.push_back(owned.back().get());
            }
            const Context context(options());
            const Comm comm(context, rank.exchange());
            body(rank, context, comm, memories);
            const std::uint64_t fused =
                context.counter("allreduce.algorithm.fused") + context.counter("broadcast.algorithm.fused");
            const std::uint64_t staged =
                context.counter("allreduce.device_staged") + context.counter("broadcast.device_staged");
            EXPECT_GT(GetParam() == "staged" ? staged : fused, 0U);
            EXPECT_EQ(GetParam() == "staged" ? fused : staged, 0U);
        });
    }
};

TEST_P(DeviceRequests, SeveralAtOnceWaitedForInAnyOrder) {
    on_ranks([](Rank& rank, const Context&, const Comm& comm, const std::vector<TestMemory*>& memories) {
        for (int round = 0; round < 20 && rank.failures() == 0; ++round) {
            std::vector<peercoll_request_t> requests(memories.size());
            const int root = round % ranks;
            for (std::size_t i = 0; i < memories.size(); ++i) {
                fill(*memories[i], rank.rank(), round);
                std::byte* buffer = memories[i]->address();
                EXPECT_TRUE(succeeded(i % 2 == 0
                                          ? plugin.allreduce_start(buffer, buffer, count, PEERCOLL_INT32, PEERCOLL_SUM,
                                                                   comm.get(), &requests[i])
                                          : plugin.broadcast_start(buffer, bytes, root, comm.get(), &requests[i])));
            }
            for (std::size_t k = 0; k < requests.size(); ++k) {
                const std::size_t i = (k * 5 + static_cast<std::size_t>(round + rank.rank())) % requests.size();
                EXPECT_TRUE(succeeded(plugin.request_wait(&requests[i])));
                if (i % 2 == 0) {
                    expect_sum(*memories[i], round);
                } else {
                    expect_message(*memories[i], root, round);
                }
            }
        }
    });
}

TEST_P(DeviceRequests, TestedUntilTheyAreDone) {
    on_ranks([](Rank& rank, const Context& context, const Comm& comm, const std::vector<TestMemory*>& memories) {
        for (int round = 0; round < 20 && rank.failures() == 0; ++round) {
            const TestMemory& memory = *memories[static_cast<std::size_t>(round) % memories.size()];
            fill(memory, rank.rank(), round);
            peercoll_request_t request = nullptr;
            ASSERT_TRUE(succeeded(plugin.allreduce_start(memory.address(), memory.address(), count, PEERCOLL_INT32,
                                                         PEERCOLL_SUM, comm.get(), &request)));
            for (int done = 0; done == 0;) {
                ASSERT_TRUE(succeeded(plugin.context_progress(context.get())));
                ASSERT_TRUE(succeeded(plugin.request_test(&request, &done)));
            }
            EXPECT_EQ(request, nullptr);
            expect_sum(memory, round);
        }
    });
}

TEST_P(DeviceRequests, PersistentOnesWithBlockingCallsBetween) {
    on_ranks([](Rank& rank, const Context&, const Comm& comm, const std::vector<TestMemory*>& memories) {
        const TestMemory& summed = *memories[0];
        const TestMemory& spread = *memories[1];
        const TestMemory& blocking = *memories[3];
        const TestMemory& host = *memories[2];
        peercoll_request_t sum = nullptr;
        peercoll_request_t message = nullptr;
        ASSERT_TRUE(succeeded(plugin.allreduce_init(summed.address(), summed.address(), count, PEERCOLL_INT32,
                                                    PEERCOLL_SUM, comm.get(), &sum)));
        ASSERT_TRUE(succeeded(plugin.broadcast_init(spread.address(), bytes, 1, comm.get(), &message)));
        for (int round = 0; round < 25 && rank.failures() == 0; ++round) {
            for (const TestMemory* memory : {&summed, &spread, &blocking, &host}) {
                fill(*memory, rank.rank(), round);
            }
            EXPECT_TRUE(succeeded(plugin.request_start(sum)));
            if (round % 2 == 0) {
                EXPECT_TRUE(succeeded(plugin.allreduce(blocking.address(), blocking.address(), count, PEERCOLL_INT32,
                                                       PEERCOLL_SUM, comm.get())));
                expect_sum(blocking, round);
            }
            EXPECT_TRUE(succeeded(plugin.request_start(message)));
            if (round % 3 == 0) {
                EXPECT_TRUE(succeeded(plugin.broadcast(host.address(), bytes, 2, comm.get())));
                expect_message(host, 2, round);
            }
            EXPECT_TRUE(succeeded(plugin.request_wait(&message)));
            EXPECT_TRUE(succeeded(plugin.request_wait(&sum)));
            expect_sum(summed, round);
            expect_message(spread, 1, round);
        }
        EXPECT_TRUE(succeeded(plugin.request_free(&sum)));
        EXPECT_TRUE(succeeded(plugin.request_free(&message)));
    });
}

INSTANTIATE_TEST_SUITE_P(All, DeviceRequests, testing::Values("auto", "staged"),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

class DeviceThreads : public testing::TestWithParam<std::string> {};

TEST_P(DeviceThreads, HaveACommunicatorEach) {
    constexpr int threads = 3;
    run_ranks(ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(2), rank.rank() % 2);
        const Context context({"device_algorithm=" + GetParam(), "peer_check=1s", "log=error"});
        const ReductionCase wanted = make_exact_case(PEERCOLL_FLOAT32, PEERCOLL_SUM, ranks, 5'000, 3);
        std::vector<std::thread> all;
        for (int thread = 0; thread < threads; ++thread) {
            all.emplace_back([&, thread] {
                process->enter(process.device());
                {
                    const TestMemory memory(&process.application(), Memory::Device, 64 << 10);
                    const Comm comm(context, rank.exchange(thread));
                    DeviceAllreduceRunner reduce(rank.rank(), comm.get(), memory, memory);
                    DeviceBroadcastRunner spread(rank.rank(), comm.get(), memory);
                    for (int round = 0; round < 40; ++round) {
                        const std::size_t part = 1 + static_cast<std::size_t>(round * (thread + 11) * 101) % 5'000;
                        if (!reduce.run(wanted, 0, part, Layout::InPlace) || !spread.run(part, round % ranks)) {
                            break;
                        }
                    }
                }
                process->leave(process.device());
            });
        }
        for (std::thread& one : all) {
            one.join();
        }
        const std::uint64_t calls = std::uint64_t{40} * threads;
        const bool staged = GetParam() == "staged";
        EXPECT_EQ(context.counter("allreduce.served"), calls);
        EXPECT_EQ(context.counter("allreduce.algorithm.fused"), staged ? 0 : calls);
        EXPECT_EQ(context.counter("broadcast.device_staged"), staged ? calls : 0);
    });
}

INSTANTIATE_TEST_SUITE_P(All, DeviceThreads, testing::Values("auto", "staged"),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace peercoll::test
