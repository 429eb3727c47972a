// SPDX-License-Identifier: BSD-3-Clause
// What goes over the wire, what does not, and what happens when it cannot.
#include "tests/several_nodes/pretended_nodes.hpp"
#include "tests/support/plugin.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace peercoll::test {

namespace {

class SeveralNodes : public testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = why_no_nodes(); !why.empty()) GTEST_SKIP() << why;
    }
};

peercoll_status_t sum(std::vector<std::int64_t>& values, peercoll_comm_t comm) {
    return plugin.allreduce(values.data(), values.data(), values.size(), PEERCOLL_INT64, PEERCOLL_SUM, comm);
}

bool maps_ucx() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libucp") != std::string::npos) return true;
    return false;
}

GroupRules losing(int rank) {
    GroupRules rules;
    rules.expected_losses = {rank};
    return rules;
}

}  // namespace

TEST_F(SeveralNodes, EachNodeSendsTheOptimumWhateverItsRanks) {
    run_nodes({0, 0, 0, 1, 2, 2}, [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        // A multiple of nodes and cache lines, so that the optimum is a whole number of lines for every node.
        constexpr std::size_t count = 3 * 8 * 1000;
        constexpr std::uint64_t n = count * sizeof(std::int64_t);
        std::vector<std::int64_t> values(count, rank.rank());
        ASSERT_TRUE(succeeded(sum(values, comm.get())));
        EXPECT_EQ(values, std::vector<std::int64_t>(count, 15));
        const bool leads = rank.rank() == 0 || rank.rank() == 3 || rank.rank() == 4;
        EXPECT_EQ(context.counter("wire.bytes"), leads ? 2 * n * 2 / 3 : 0);
        // The proof of the wire, beside it: 16 KiB, and a byte, to each of the two other nodes.
        EXPECT_EQ(context.counter("wire.proof_bytes"), leads ? 2 * 16385u : 0u);
        EXPECT_EQ(context.counter("wire.proof_messages"), leads ? 4u : 0u);
        EXPECT_EQ(context.counter("allreduce.hosts.direct"), 1u);
        // Down the chain from node 1, where rank 3 is alone, to node 2 and node 0.
        constexpr std::size_t bytes = std::size_t{4} << 20;
        std::vector<std::uint8_t> message(bytes, rank.rank() == 3 ? 9 : 0);
        ASSERT_TRUE(succeeded(plugin.broadcast(message.data(), bytes, 3, comm.get())));
        EXPECT_EQ(message, std::vector<std::uint8_t>(bytes, 9));
        const bool sends = rank.rank() == 3 || rank.rank() == 4;
        EXPECT_EQ(context.counter("wire.bytes"), (leads ? 2 * n * 2 / 3 : 0) + (sends ? bytes : 0));
        EXPECT_EQ(context.counter("broadcast.hosts.chain"), 1u);
        EXPECT_EQ(maps_ucx(), leads) << "only ranks that speak for their node need the transport";
    });
}

// Of many nodes: those pairs that only some schedules use are connected by the first call that does.
TEST_F(SeveralNodes, ManyNodesConnectAllWithAllOnceACallNeedsIt) {
    static constexpr int nodes = 17;
    static constexpr std::uint64_t proof = 16385;  // bytes of each partner
    std::vector<int> node_of(nodes);
    std::iota(node_of.begin(), node_of.end(), 0);
    node_of.push_back(0);  // so that no rank order is kept, and one node has a rank that does not speak
    run_nodes(node_of, [](Rank& rank) {
        const Context context;
        const Comm comm(context, rank.exchange());
        const bool speaks = rank.rank() < nodes;
        std::vector<std::int64_t> values(1, rank.rank());
        ASSERT_TRUE(succeeded(sum(values, comm.get())));
        EXPECT_EQ(values.front(), nodes * (nodes + 1) / 2);
        const std::uint64_t before = context.counter("wire.proof_bytes");
        EXPECT_EQ(before % proof, 0u);
        EXPECT_LT(before, (nodes - 1) * proof);
        for (int call = 0; call < 2; ++call) {
            values.assign(50'000, rank.rank());
            ASSERT_TRUE(succeeded(sum(values, comm.get())));
            EXPECT_EQ(values, std::vector<std::int64_t>(values.size(), nodes * (nodes + 1) / 2));
        }
        EXPECT_EQ(context.counter("allreduce.hosts.direct"), 2u);
        // All others but those at distances 1, 2, 4 and 8 (9 the other way round), once.
        EXPECT_EQ(context.counter("wire.proof_bytes") - before, speaks ? (nodes - 1 - 8) * proof : 0u);
        EXPECT_EQ(context.counter("wire.unsettled"), 0u);
        std::vector<std::int32_t> last(3, rank.rank());
        ASSERT_TRUE(succeeded(
            plugin.allreduce(last.data(), last.data(), last.size(), PEERCOLL_INT32, PEERCOLL_REPLACE, comm.get())));
        EXPECT_EQ(last, std::vector<std::int32_t>(3, nodes));
        EXPECT_EQ(context.counter("allreduce.hosts.rank_order"), 1u);
        EXPECT_EQ(context.counter("wire.proof_bytes") - before, speaks ? (nodes - 1 - 8) * proof : 0u);
    });
}

// The ranks of one number exchange with each other, chunk by chunk in turns; together no more than the optimum.
TEST_F(SeveralNodes, RanksOfANodeShareTheWireWithoutSendingMore) {
    constexpr std::uint64_t piece = 60 << 10;   // what goes to the wire at once
    constexpr std::uint64_t chunk = 2 * piece;  // as much as two pieces
    for (const bool shared : {true, false}) {
        run_nodes({0, 0, 1, 1, 1}, [shared](Rank& rank) {
            const Context context({shared ? "executors=auto" : "executors=one"});
            const Comm comm(context, rank.exchange());
            const int number = rank.rank() < 2 ? rank.rank() : rank.rank() - 2;
            std::vector<std::int64_t> values(8 * chunk / sizeof(std::int64_t), rank.rank());
            ASSERT_TRUE(succeeded(sum(values, comm.get())));
            EXPECT_EQ(values, std::vector<std::int64_t>(values.size(), 10));
            // Of both nodes: 2 n (h-1)/h = n for n bytes.
            const std::uint64_t turns = number == 0 ? (shared ? 4 : 8) : (number == 1 && shared ? 4 : 0);
            EXPECT_EQ(context.counter("wire.bytes"), turns * chunk);
            EXPECT_EQ(context.counter("allreduce.hosts.doubling"), 1u);
            EXPECT_EQ(context.counter("allreduce.hosts.shared"), shared ? 1u : 0u);
            // From a rank that has no wire of its own: its node's others send what they have got from it.
            std::vector<std::uint8_t> message(9 * piece, rank.rank() == 4 ? 9 : 0);
            ASSERT_TRUE(succeeded(plugin.broadcast(message.data(), message.size(), 4, comm.get())));
            EXPECT_EQ(message, std::vector<std::uint8_t>(message.size(), 9));
            const std::uint64_t sent = rank.rank() == 2 ? (shared ? 5 : 9) : (rank.rank() == 3 && shared ? 4 : 0);
            EXPECT_EQ(context.counter("wire.bytes"), turns * chunk + sent * piece);
            EXPECT_EQ(context.counter("broadcast.hosts.shared"), shared ? 1u : 0u);
            // A root that takes turns goes first, straight to its like on the other node.
            const std::uint64_t before = context.counter("wire.bytes");
            message.assign(100, rank.rank() == 1 ? 7 : 0);
            ASSERT_TRUE(succeeded(plugin.broadcast(message.data(), message.size(), 1, comm.get())));
            EXPECT_EQ(message, std::vector<std::uint8_t>(100, 7));
            EXPECT_EQ(context.counter("wire.bytes") - before, rank.rank() == (shared ? 1 : 0) ? 100u : 0u);
            // One chunk has nobody to share it with.
            values.assign(1, 1);
            ASSERT_TRUE(succeeded(sum(values, comm.get())));
            EXPECT_EQ(values.front(), 5);
            EXPECT_EQ(context.counter("allreduce.hosts.shared"), shared ? 1u : 0u);
            EXPECT_EQ(maps_ucx(), number == 0 || (number == 1 && shared));
        });
    }
}

// Counts what setting up a communicator takes of the caller's allgather.
struct CountedExchange {
    Exchange exchange;
    int rounds = 0;
    std::size_t bytes = 0;
    static int allgather(const void* mine, void* all, std::size_t bytes, void* user) {
        auto& self = *static_cast<CountedExchange*>(user);
        ++self.rounds;
        self.bytes += bytes;
        return Exchange::allgather_callback(mine, all, bytes, &self.exchange);
    }
};

TEST_F(SeveralNodes, SettingUpTakesTheSameFewRoundsOfAnyNumberOfRanks) {
    for (const std::vector<int>& node_of :
         {std::vector{0, 1}, std::vector{0, 0, 1, 1}, std::vector{0, 1, 2, 0, 1, 2, 3}}) {
        run_nodes(node_of, [](Rank& rank) {
            const Context context;
            CountedExchange counted{rank.exchange()};
            peercoll_comm_params_t params = comm_params(counted.exchange);
            params.allgather = &CountedExchange::allgather;
            params.user = &counted;
            peercoll_comm_t comm = nullptr;
            ASSERT_TRUE(succeeded(plugin.comm_create(context.get(), &params, &comm)));
            std::vector<std::int64_t> values(1, 1);
            ASSERT_TRUE(succeeded(sum(values, comm)));
            EXPECT_EQ(values.front(), rank.size());
            if (rank.rank() == 0)
                std::printf("%d ranks: %d allgathers, %zu bytes of each rank\n", rank.size(), counted.rounds,
                            counted.bytes);
            EXPECT_LE(counted.rounds, 12);
            EXPECT_LE(counted.bytes, 8192u);
            const int rounds = counted.rounds;
            ASSERT_TRUE(succeeded(sum(values, comm)));
            EXPECT_EQ(counted.rounds, rounds) << "set up once";
            ASSERT_TRUE(succeeded(plugin.comm_destroy(comm)));
        });
    }
}

TEST_F(SeveralNodes, CommunicatorsOnOneNodeAndAcrossGoOnBesideEachOther) {
    const std::vector<int> node_of = {0, 1, 0, 1, 2};
    run_nodes(node_of, [&](Rank& rank) {
        const Context context;
        const Comm all(context, rank.exchange(0));
        // Of node 0, of node 1, and of the last ranks of each node.
        const int me = rank.rank();
        const bool in_pair = me < 4;
        const bool in_last = me >= 2;
        std::unique_ptr<Comm> pair;
        std::unique_ptr<Comm> last;
        if (in_pair) pair = std::make_unique<Comm>(context, rank.exchange(1 + me % 2, me / 2, 2));
        if (in_last) last = std::make_unique<Comm>(context, rank.exchange(3, me - 2, 3));
        for (int round = 0; round < 20; ++round) {
            const std::size_t count = round % 4 == 0 ? 50000 : 3;
            std::vector<std::int64_t> values(count, me + round);
            ASSERT_TRUE(succeeded(sum(values, all.get())));
            EXPECT_EQ(values, std::vector<std::int64_t>(count, 10 + 5 * round));
            if (in_pair) {
                values.assign(count, me);
                ASSERT_TRUE(succeeded(sum(values, pair->get())));
                EXPECT_EQ(values, std::vector<std::int64_t>(count, me % 2 == 0 ? 2 : 4));
            }
            if (in_last) {
                values.assign(count, me);
                ASSERT_TRUE(succeeded(sum(values, last->get())));
                EXPECT_EQ(values, std::vector<std::int64_t>(count, 9));
            }
        }
    });
}

TEST_F(SeveralNodes, ManyCommunicatorsOneAfterAnother) {
    run_nodes({0, 0, 1}, [](Rank& rank) {
        const Context context;
        for (int i = 0; i < 30; ++i) {
            const Comm comm(context, rank.exchange(0));
            std::vector<std::int64_t> values(5, i);
            ASSERT_TRUE(succeeded(sum(values, comm.get())));
            EXPECT_EQ(values, std::vector<std::int64_t>(5, 3 * i));
        }
        EXPECT_GT(context.counter("segment.reused"), 0u);
    });
}

TEST_F(SeveralNodes, ARankWithoutATransportIsToldToAllAlike) {
    run_nodes({0, 0, 1, 2}, [](Rank& rank) {
        if (rank.rank() == 2) {
            EXPECT_EQ(::setenv("PEERCOLL_UCX_TLS", "none_such", 1), 0);
        }
        const Context context;
        const Comm comm(context, rank.exchange());
        std::vector<std::int64_t> values(3, 1);
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(refused(sum(values, comm.get()), PEERCOLL_ERR_NOT_SUPPORTED, "several hosts"));
        EXPECT_TRUE(refused(sum(values, comm.get()), PEERCOLL_ERR_NOT_SUPPORTED, "rank 2"));
        EXPECT_EQ(values, std::vector<std::int64_t>(3, 1));
        EXPECT_EQ(context.counter("allreduce.served"), 0u);
    });
}

TEST_F(SeveralNodes, ARankThatDoesNotComeIsWaitedForUntilTheTimeout) {
    run_nodes({0, 0, 1, 1}, [](Rank& rank) {
        const Context context({"timeout=1000ms"});
        const Comm comm(context, rank.exchange());
        std::vector<std::int64_t> values(100000, 1);
        ASSERT_TRUE(succeeded(sum(values, comm.get())));
        if (rank.rank() == 3) {
            // Until all others have given up; their next call would say so at once.
            while (rank.word(0).load() < 3) ::usleep(1000);
            return;
        }
        const peercoll_status_t status = sum(values, comm.get());
        EXPECT_TRUE(status == PEERCOLL_ERR_TIMEOUT || status == PEERCOLL_ERR_PEER_LOST) << plugin.last_error();
        EXPECT_EQ(sum(values, comm.get()), status) << "the communicator stays unusable";
        ++rank.word(0);
    });
}

TEST_F(SeveralNodes, ARankThatDiesOnAnotherNodeEndsTheCollectiveEverywhere) {
    // The ranks that speak for a node, whom others have a connection to; and one whom only its own node can miss.
    for (const int victim : {2, 3, 4}) {
        SCOPED_TRACE(victim);
        run_nodes(
            {0, 0, 1, 1, 1},
            [victim](Rank& rank) {
                const Context context({"peer_check=100ms", "timeout=20s"});
                const Comm comm(context, rank.exchange());
                std::vector<std::int64_t> values(100000, 1);
                ASSERT_TRUE(succeeded(sum(values, comm.get())));
                if (rank.rank() == victim) ::raise(SIGKILL);
                EXPECT_TRUE(refused(sum(values, comm.get()), PEERCOLL_ERR_PEER_LOST));
            },
            losing(victim));
    }
}

}  // namespace peercoll::test
