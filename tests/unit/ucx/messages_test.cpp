// SPDX-License-Identifier: BSD-3-Clause
// Messages between processes of one machine, over sockets as between hosts, and over shared memory.
#include "tests/unit/ucx/wired_rank.hpp"

#include <thread>

namespace peercoll::test {
namespace {

class Messages : public testing::TestWithParam<Route> {};

INSTANTIATE_TEST_SUITE_P(Over, Messages, testing::Values(Route::Sockets, Route::SharedMemory),
                         [](const auto& route) { return route.param == Route::Sockets ? "Sockets" : "SharedMemory"; });

// Without the reason, which threads would share.
bool wait_alone(const WiredRank& wired, peercoll_transfer_t& transfer) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    peercoll_status_t status = PEERCOLL_ERR_BUSY;
    while ((status = wired.transport().test(wired.wire(), &transfer, nullptr)) == PEERCOLL_ERR_BUSY) {
        if (std::chrono::steady_clock::now() > end) return false;
        if (wired.transport().progress(wired.wire()) == 0) ::sched_yield();
    }
    return status == PEERCOLL_SUCCESS;
}

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

TEST_P(Messages, OfEverySizeArriveUnchangedInBothDirectionsAtOnce) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            const int other = 1 - rank.rank();
            std::uint64_t total = 0;
            std::uint32_t sequence = 0;
            for (const std::size_t bytes :
                 {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{64}, std::size_t{1000},
                  8 * KiB - 1, 8 * KiB, 64 * KiB + 3, 1 * MiB, 64 * MiB}) {
                const auto mine = pattern(bytes, sequence * 2 + static_cast<std::uint32_t>(rank.rank()));
                std::vector<std::uint8_t> theirs(bytes + 1, 0xEE);
                std::vector<peercoll_transfer_t> transfers = {
                    wired.receive(other, WiredRank::name(other, 0, sequence), theirs.data(), bytes),
                    wired.send(other, WiredRank::name(rank.rank(), 0, sequence), mine.data(), bytes)};
                ASSERT_TRUE(wired.wait_all(transfers)) << bytes << " bytes";
                ASSERT_EQ(theirs.back(), 0xEE) << "written behind the end";
                theirs.pop_back();
                ASSERT_EQ(theirs, pattern(bytes, sequence * 2 + static_cast<std::uint32_t>(other)))
                    << bytes << " bytes";
                total += bytes;
                ++sequence;
            }
            EXPECT_EQ(wired.info().bytes_sent, total);
            EXPECT_EQ(wired.info().messages_sent, sequence);
            EXPECT_EQ(wired.info().transfers, 0u);
            EXPECT_TRUE(wired.get_quiet());
            EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
        },
        wire_rules());
}

TEST_P(Messages, ChunksOfOneNameArriveInTheirOrderHoweverManyAreOutstanding) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            constexpr std::size_t chunk = 24 * KiB + 8;
            constexpr std::size_t chunks = 300;
            const peercoll_message_t name = WiredRank::name(0, 5);
            std::vector<std::uint8_t> data =
                rank.rank() == 0 ? pattern(chunk * chunks, 9) : std::vector<std::uint8_t>(chunk * chunks);
            std::vector<peercoll_transfer_t> transfers;
            for (std::size_t i = 0; i < chunks; ++i) {
                std::uint8_t* const part = data.data() + i * chunk;
                transfers.push_back(rank.rank() == 0 ? wired.send(1, name, part, chunk)
                                                     : wired.receive(0, name, part, chunk));
                ASSERT_EQ(wired.started(), PEERCOLL_SUCCESS) << wired.reason();
            }
            ASSERT_TRUE(wired.wait_all(transfers));
            EXPECT_EQ(data, pattern(chunk * chunks, 9));
            EXPECT_TRUE(wired.get_quiet());
        },
        wire_rules());
}

TEST_P(Messages, GoToTheReceiveOfTheirNameInWhateverOrderTheyComeAndAreAwaited) {
    run_ranks(
        3,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            constexpr std::uint32_t stages = 8;
            constexpr std::uint32_t sequences = 4;
            const auto value = [](int source, std::uint32_t stage, std::uint32_t sequence) {
                return std::uint64_t{1000} * static_cast<std::uint64_t>(source) + 10 * stage + sequence;
            };
            std::vector<peercoll_transfer_t> transfers;
            std::vector<std::uint64_t> values(stages * sequences);
            if (rank.rank() != 0) {
                // Backwards, and each before anyone awaits it.
                for (std::uint32_t i = stages * sequences; i-- > 0;) {
                    values[i] = value(rank.rank(), i / sequences, i % sequences);
                    transfers.push_back(
                        wired.send(0, WiredRank::name(rank.rank(), i / sequences, i % sequences), &values[i], 8));
                }
                ASSERT_TRUE(wired.wait_all(transfers));
            } else {
                std::vector<std::uint64_t> found(2 * stages * sequences);
                for (int source : {2, 1}) {
                    for (std::uint32_t i = 0; i < stages * sequences; ++i) {
                        transfers.push_back(
                            wired.receive(source, WiredRank::name(source, i / sequences, i % sequences),
                                          &found[static_cast<std::size_t>(source - 1) * stages * sequences + i], 8));
                    }
                }
                ASSERT_TRUE(wired.wait_all(transfers));
                for (std::uint32_t i = 0; i < stages * sequences; ++i) {
                    EXPECT_EQ(found[i], value(1, i / sequences, i % sequences));
                    EXPECT_EQ(found[stages * sequences + i], value(2, i / sequences, i % sequences));
                }
            }
            EXPECT_TRUE(wired.get_quiet());
        },
        wire_rules());
}

TEST_P(Messages, FromEveryRankToEveryRankAndEndpointsOnlyWhereTheyAreUsed) {
    run_ranks(
        6,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            EXPECT_EQ(wired.info().peers, 6u);
            EXPECT_EQ(wired.info().endpoints, 0u) << "connected before first use";
            std::vector<std::vector<std::uint8_t>> in(6);
            std::vector<std::vector<std::uint8_t>> out(6);
            std::vector<peercoll_transfer_t> transfers;
            const auto seed = [](int from, int to) { return static_cast<std::uint32_t>(100 * from + to); };
            for (int other = 0; other < 6; ++other) {  // itself too
                const auto i = static_cast<std::size_t>(other);
                in[i].resize(20 * KiB);
                out[i] = pattern(20 * KiB, seed(rank.rank(), other));
                transfers.push_back(wired.receive(other, WiredRank::name(other), in[i].data(), in[i].size()));
                transfers.push_back(wired.send(other, WiredRank::name(rank.rank()), out[i].data(), out[i].size()));
            }
            ASSERT_TRUE(wired.wait_all(transfers));
            for (int other = 0; other < 6; ++other) {
                EXPECT_EQ(in[static_cast<std::size_t>(other)], pattern(20 * KiB, seed(other, rank.rank())));
            }
            EXPECT_EQ(wired.info().endpoints, 6u);
            EXPECT_TRUE(wired.get_quiet());
            EXPECT_TRUE(rank.exchange().meet());  // an endpoint goes when its peer closes
            EXPECT_EQ(wired.close(), PEERCOLL_SUCCESS) << wired.reason();
        },
        wire_rules());
}

TEST_P(Messages, OfTwoThreadsInTwoCommunicatorsDoNotDisturbEachOther) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            const int other = 1 - rank.rank();
            std::array<int, 2> wrong = {};
            // Few rounds of many messages: rounds take long where more threads than cores spin.
            constexpr std::uint32_t rounds = 4;
            constexpr std::uint32_t stages = 50;
            const auto exchange = [&](std::uint32_t communicator) {
                const peercoll_transport_t& transport = wired.transport();
                for (std::uint32_t round = 0; round < rounds; ++round) {
                    std::array<std::uint64_t, stages> out = {};
                    std::array<std::uint64_t, stages> in = {};
                    std::vector<peercoll_transfer_t> transfers;
                    bool ok = true;
                    for (std::uint32_t stage = 0; stage < stages; ++stage) {
                        const peercoll_message_t from_me = {communicator, round,
                                                            static_cast<std::uint32_t>(rank.rank()), stage};
                        const peercoll_message_t from_other = {communicator, round, static_cast<std::uint32_t>(other),
                                                               stage};
                        out[stage] = communicator * 100'000 + round * 1000 + stage;
                        ok = ok &&
                             transport.receive(wired.wire(), wired.peer(other), &from_other, PEERCOLL_WIRE_HOST,
                                               &in[stage], 8, &transfers.emplace_back(), nullptr) == PEERCOLL_SUCCESS &&
                             transport.send(wired.wire(), wired.peer(other), &from_me, PEERCOLL_WIRE_HOST, &out[stage],
                                            8, &transfers.emplace_back(), nullptr) == PEERCOLL_SUCCESS;
                    }
                    for (peercoll_transfer_t& transfer : transfers) ok = ok && wait_alone(wired, transfer);
                    if (!ok || in != out) ++wrong[communicator];
                }
            };
            std::thread second(exchange, 1u);
            exchange(0u);
            second.join();
            EXPECT_EQ(wrong[0], 0);
            EXPECT_EQ(wrong[1], 0);
            EXPECT_TRUE(wired.get_quiet());
        },
        wire_rules());
}

TEST_P(Messages, OfAnotherSizeThanExpectedAreAnErrorThatTellsBothSizes) {
    run_ranks(
        2,
        [](Rank& rank) {
            WiredRank wired(rank, GetParam());
            ASSERT_TRUE(wired.good());
            std::vector<std::uint8_t> data(64);
            if (rank.rank() == 0) {
                std::vector<peercoll_transfer_t> sends = {wired.send(1, WiredRank::name(0, 1), data.data(), 8),
                                                          wired.send(1, WiredRank::name(0, 2), data.data(), 64)};
                ASSERT_TRUE(wired.wait_all(sends));
                EXPECT_TRUE(wired.get_quiet());
            } else {
                // The transfers are ended one after the other: a message may be there at once, or later.
                peercoll_transfer_t longer = wired.receive(0, WiredRank::name(0, 1), data.data(), 16);
                const peercoll_status_t short_message = longer != nullptr ? wired.wait(longer) : wired.started();
                EXPECT_EQ(short_message, PEERCOLL_ERR_INTERNAL);
                EXPECT_STREQ(wired.reason(), "a message had 8 bytes, expected 16");
                peercoll_transfer_t shorter = wired.receive(0, WiredRank::name(0, 2), data.data(), 16);
                const peercoll_status_t long_message = shorter != nullptr ? wired.wait(shorter) : wired.started();
                EXPECT_EQ(long_message, PEERCOLL_ERR_INTERNAL);
                EXPECT_STREQ(wired.reason(), "a message was longer than the 16 bytes expected");
            }
            EXPECT_TRUE(rank.exchange().meet());
        },
        wire_rules());
}

}  // namespace
}  // namespace peercoll::test
