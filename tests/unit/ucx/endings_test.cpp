// SPDX-License-Identifier: BSD-3-Clause
// How things end: transfers that are given up, processes that are lost, wires that are closed.
#include "tests/unit/ucx/wired_rank.hpp"

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace peercoll::test {
namespace {

class Endings : public testing::TestWithParam<Route> {};

INSTANTIATE_TEST_SUITE_P(Over, Endings, testing::Values(Route::Sockets, Route::SharedMemory),
                         [](const auto& route) { return route.param == Route::Sockets ? "Sockets" : "SharedMemory"; });

// Both ranks have exchanged a message, so that they are connected.
void greet(WiredRank& wired, Rank& rank) {
    const int other = 1 - rank.rank();
    std::uint64_t out = 7;
    std::uint64_t in = 0;
    std::vector<peercoll_transfer_t> transfers = {wired.receive(other, WiredRank::name(other, 9), &in, 8),
                                                  wired.send(other, WiredRank::name(rank.rank(), 9), &out, 8)};
    ASSERT_TRUE(wired.wait_all(transfers));
    ASSERT_EQ(in, 7u);
    ASSERT_TRUE(wired.get_quiet());
}

TEST_P(Endings, AWireIsBusyOnlyWhileSomethingIsOutstanding) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            EXPECT_EQ(wired.transport().busy(wired.wire()), 0);
            EXPECT_EQ(wired.transport().progress(wired.wire()), 0);
            std::uint64_t word = 3;
            if (rank.rank() == 0) {
                peercoll_transfer_t transfer = wired.receive(1, WiredRank::name(1), &word, 8);
                EXPECT_EQ(wired.transport().busy(wired.wire()), 1);
                EXPECT_TRUE(rank.exchange().meet());
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
            } else {
                EXPECT_TRUE(rank.exchange().meet());
                peercoll_transfer_t transfer = wired.send(0, WiredRank::name(1), &word, 8);
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
            }
            EXPECT_TRUE(wired.get_quiet());
            EXPECT_EQ(wired.transport().progress(wired.wire()), 0);
        },
        wire_rules());
}

TEST_P(Endings, ACancelledReceiveFreesItsMemoryAndTheNextOneOfTheNameGetsTheMessage) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            std::uint64_t cancelled = 1;
            std::uint64_t word = 42;
            if (rank.rank() == 0) {
                peercoll_transfer_t transfer = wired.receive(1, WiredRank::name(1), &cancelled, 8);
                ASSERT_NE(transfer, nullptr);
                EXPECT_EQ(wired.transport().cancel(wired.wire(), &transfer), PEERCOLL_SUCCESS);
                EXPECT_EQ(transfer, nullptr);
                EXPECT_EQ(wired.info().transfers, 0u);
                EXPECT_TRUE(rank.exchange().meet());
                word = 0;
                transfer = wired.receive(1, WiredRank::name(1), &word, 8);
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_EQ(word, 42u);
                EXPECT_EQ(cancelled, 1u);
            } else {
                EXPECT_TRUE(rank.exchange().meet());
                peercoll_transfer_t transfer = wired.send(0, WiredRank::name(1), &word, 8);
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
            }
            EXPECT_TRUE(wired.get_quiet());
            EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
        },
        wire_rules());
}

TEST_P(Endings, AWireThatIsClosedLongBeforeTheOthersLosesNothing) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            greet(wired, rank);
            // Small, so that the sender is done before the other has looked.
            auto last = pattern(512, 3);
            if (rank.rank() == 0) {
                peercoll_transfer_t transfer = wired.send(1, WiredRank::name(0), last.data(), last.size());
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_TRUE(wired.get_quiet());
                EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_TRUE(rank.exchange().meet());
            } else {
                EXPECT_TRUE(rank.exchange().meet());
                std::vector<std::uint8_t> found(last.size());
                peercoll_transfer_t transfer = wired.receive(0, WiredRank::name(0), found.data(), found.size());
                ASSERT_EQ(wired.started(), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_EQ(wired.wait(transfer), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_EQ(found, last);
                EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
            }
        },
        wire_rules());
}

TEST_P(Endings, AWireThatIsBeingClosedEndsWhatIsOutstandingAndRefusesMore) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            greet(wired, rank);
            const int other = 1 - rank.rank();
            std::uint64_t word = 5;
            peercoll_transfer_t never = wired.receive(other, WiredRank::name(other, 1), &word, 8);
            wired.transport().close_begin(wired.wire());
            EXPECT_NE(wired.wait(never), PEERCOLL_SUCCESS);
            EXPECT_EQ(never, nullptr);
            EXPECT_EQ(word, 5u);
            EXPECT_EQ(wired.send(other, WiredRank::name(rank.rank(), 1), &word, 8), nullptr);
            EXPECT_EQ(wired.started(), PEERCOLL_ERR_BUSY);
            EXPECT_TRUE(wired.get_quiet());
            EXPECT_TRUE(rank.exchange().meet());
            EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
        },
        wire_rules());
}

TEST_P(Endings, TransfersOfAPeerThatTheCallerKnowsToBeLostEndAtOnce) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            greet(wired, rank);
            if (rank.rank() == 0) {
                std::uint64_t word = 0;
                peercoll_transfer_t transfer = wired.receive(1, WiredRank::name(1), &word, 8);
                ASSERT_NE(transfer, nullptr);
                wired.transport().drop_peer(wired.wire(), wired.peer(1));
                EXPECT_EQ(wired.transport().test(wired.wire(), &transfer, nullptr), PEERCOLL_ERR_PEER_LOST);
                EXPECT_EQ(wired.send(1, WiredRank::name(0), &word, 8), nullptr);
                EXPECT_EQ(wired.started(), PEERCOLL_ERR_PEER_LOST);
                EXPECT_TRUE(wired.get_quiet()) << "a lost peer keeps the wire busy";
            }
            EXPECT_TRUE(rank.exchange().meet());
        },
        wire_rules());
}

// Only over sockets does UCX itself notice.
TEST(Losses, AProcessThatIsKilledIsNoticedByThoseWhoWaitForItAndTheOthersGoOn) {
    GroupRules rules = wire_rules();
    rules.expected_losses = {1};
    run_ranks(
        3,
        [](Rank& rank) {
            WiredRank wired(rank, Route::Sockets);
            ASSERT_TRUE(wired.good());
            std::uint64_t word = 11;
            std::vector<std::uint8_t> big(8 << 20);
            if (rank.rank() == 0) {
                peercoll_transfer_t first = wired.receive(1, WiredRank::name(1, 1), &word, 8);
                ASSERT_EQ(wired.wait(first), PEERCOLL_SUCCESS) << wired.reason();
                peercoll_transfer_t awaited = wired.receive(1, WiredRank::name(1, 2), big.data(), big.size());
                peercoll_transfer_t sending = wired.send(1, WiredRank::name(0, 3), big.data(), big.size());
                rank.word(0).store(1);
                EXPECT_EQ(wired.wait(awaited), PEERCOLL_ERR_PEER_LOST) << wired.reason();
                EXPECT_EQ(wired.wait(sending), PEERCOLL_ERR_PEER_LOST) << wired.reason();
                EXPECT_EQ(wired.receive(1, WiredRank::name(1, 4), &word, 8), nullptr);
                EXPECT_EQ(wired.started(), PEERCOLL_ERR_PEER_LOST);
                peercoll_transfer_t other = wired.receive(2, WiredRank::name(2), &word, 8);
                EXPECT_EQ(wired.wait(other), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_EQ(word, 12u);
                rank.word(1).store(1);
                EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
            } else if (rank.rank() == 1) {
                peercoll_transfer_t first = wired.send(0, WiredRank::name(1, 1), &word, 8);
                ASSERT_EQ(wired.wait(first), PEERCOLL_SUCCESS) << wired.reason();
                ASSERT_TRUE(wired.get_quiet());
                while (rank.word(0).load() == 0) ::usleep(1000);
                ::kill(::getpid(), SIGKILL);
            } else {
                while (rank.word(0).load() == 0) ::usleep(1000);
                ++word;
                peercoll_transfer_t greeting = wired.send(0, WiredRank::name(2), &word, 8);
                EXPECT_EQ(wired.wait(greeting), PEERCOLL_SUCCESS) << wired.reason();
                EXPECT_TRUE(wired.get_quiet());
                while (rank.word(1).load() == 0) ::usleep(1000);
            }
        },
        rules);
}

}  // namespace
}  // namespace peercoll::test
