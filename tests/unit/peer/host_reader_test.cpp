// SPDX-License-Identifier: BSD-3-Clause
// HostReader over cross-memory attach, between forked ranks.
#include "plugin/peer/host_reader.hpp"

#include "plugin/device/host/host_device.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace peercoll {
namespace {

using test::Rank;
using test::run_ranks;
using testing::HasSubstr;

constexpr std::size_t page = 4096;

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

std::uint64_t word_of(int rank) {
    return 0x1234567800000000U + static_cast<std::uint64_t>(rank);
}

// What every rank shows the others, and the reader that comes of it. `proof` may lie.
struct Party {
    std::unique_ptr<std::uint64_t> word;
    std::string reason;
    std::unique_ptr<HostReader> reader;

    template <typename Lie>
    Party(Rank& rank, Lie lie) : word(std::make_unique<std::uint64_t>(word_of(rank.rank()))) {
        peercoll_access_token_t token{};
        EXPECT_EQ(host_device().access_export(&token, nullptr), PEERCOLL_SUCCESS);
        ReadProof proof{address_of(word.get()), *word};
        lie(rank.rank(), token, proof);
        const auto tokens = test::gather(rank.exchange(0), token);
        const auto proofs = test::gather(rank.exchange(1), proof);
        reader = HostReader::open_all(tokens, proofs, rank.rank(), PEERCOLL_ACCESS_CMA, reason);
        EXPECT_TRUE(rank.exchange(2).meet());  // nobody's word goes before all have read it
    }
    explicit Party(Rank& rank) : Party(rank, [](int, peercoll_access_token_t&, ReadProof&) {}) {}
};

TEST(HostReader, IsThereWhenEveryWordWasReadAndRight) {
    run_ranks(3, [](Rank& rank) {
        const Party party(rank);
        EXPECT_NE(party.reader, nullptr) << party.reason;
    });
}

TEST(HostReader, IsRefusedWhenAPeersWordIsAnother) {
    run_ranks(3, [](Rank& rank) {
        const Party party(rank, [](int self, peercoll_access_token_t&, ReadProof& proof) {
            if (self == 1) ++proof.value;
        });
        if (rank.rank() == 1) {
            EXPECT_NE(party.reader, nullptr) << "its own word is not asked for: " << party.reason;
        } else {
            EXPECT_EQ(party.reader, nullptr);
            EXPECT_THAT(party.reason, HasSubstr("wrong data"));
        }
    });
}

TEST(HostReader, IsRefusedWhenAPeersWordCannotBeRead) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank, [](int self, peercoll_access_token_t&, ReadProof& proof) {
            if (self == 0) proof.address = 8;
        });
        EXPECT_EQ(party.reader == nullptr, rank.rank() == 1);
        if (rank.rank() == 1) {
            EXPECT_THAT(party.reason, HasSubstr("refused"));
        }
    });
}

TEST(HostReader, IsRefusedWhenAPeerDoesNotOfferItsMemory) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank, [](int self, peercoll_access_token_t& token, ReadProof&) {
            if (self == 0) token.kinds = 0;
        });
        EXPECT_EQ(party.reader == nullptr, rank.rank() == 1);
        if (rank.rank() == 1) {
            EXPECT_THAT(party.reason, HasSubstr("offer"));
        }
    });
}

// Rank 0 shows two pages, of which the second is unmapped.
struct HalfMapped {
    std::byte* memory;
    HalfMapped()
        : memory(static_cast<std::byte*>(
              mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        std::memset(memory, 7, 2 * page);
        munmap(memory + page, page);
    }
    ~HalfMapped() { munmap(memory, page); }
};

TEST(HostReader, CopiesInBothDirections) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank);
        ASSERT_NE(party.reader, nullptr) << party.reason;
        std::vector<int> mine(3000, 10 + rank.rank());
        const auto addresses = test::gather(rank.exchange(3), address_of(mine.data()));
        if (rank.rank() == 1) {
            std::vector<int> theirs(mine.size());
            EXPECT_TRUE(party.reader->read(0, addresses[0], theirs.data(), theirs.size() * sizeof(int)));
            EXPECT_EQ(theirs, std::vector<int>(mine.size(), 10));
            EXPECT_TRUE(party.reader->write(0, addresses[0] + sizeof(int), mine.data(), 2 * sizeof(int)));
        }
        EXPECT_TRUE(rank.exchange(4).meet());
        std::vector<int> expected(mine.size(), 10 + rank.rank());
        if (rank.rank() == 0) expected[1] = expected[2] = 11;
        EXPECT_EQ(mine, expected);
    });
}

TEST(HostReader, SaysWhatItCannotReach) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank);
        ASSERT_NE(party.reader, nullptr) << party.reason;
        const HalfMapped half;
        const auto addresses = test::gather(rank.exchange(3), address_of(half.memory));
        if (rank.rank() == 1) {
            HostReader& reader = *party.reader;
            EXPECT_TRUE(reader.reachable(0, addresses[0], page));
            EXPECT_TRUE(reader.reachable(0, addresses[0], 1)) << "a part of what was reached";
            EXPECT_FALSE(reader.reachable(0, addresses[0], page + 1)) << "more than was reached";
            EXPECT_FALSE(reader.reachable(0, addresses[0] + page, 1));
            std::vector<std::byte> here(2 * page);
            EXPECT_TRUE(reader.read(0, addresses[0], here.data(), page));
            EXPECT_FALSE(reader.read(0, addresses[0], here.data(), 2 * page));
            EXPECT_FALSE(reader.write(0, addresses[0] + page - 1, here.data(), 2));
        }
        EXPECT_TRUE(rank.exchange(4).meet());
    });
}

TEST(HostReader, RemembersManyRangesWithoutMixingThemUp) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank);
        ASSERT_NE(party.reader, nullptr) << party.reason;
        const HalfMapped half;
        const auto addresses = test::gather(rank.exchange(3), address_of(half.memory));
        if (rank.rank() == 1)
            for (int round = 0; round < 3; ++round)
                for (std::size_t i = 0; i < 20; ++i) {
                    EXPECT_TRUE(party.reader->reachable(0, addresses[0] + 8 * i, page - 8 * i));
                    EXPECT_FALSE(party.reader->reachable(0, addresses[0] + 8 * i, page - 8 * i + 1));
                }
        EXPECT_TRUE(rank.exchange(4).meet());
    });
}

TEST(HostReader, FindsOutAboutAPeerThatIsGone) {
    run_ranks(2, [](Rank& rank) {
        const Party party(rank);
        const auto pids = test::gather(rank.exchange(3), getpid());
        const auto addresses = test::gather(rank.exchange(4), address_of(party.word.get()));
        if (rank.rank() == 0) return;
        ASSERT_NE(party.reader, nullptr) << party.reason;
        std::uint64_t word = 0;
        // The memory of a process goes before the process does.
        for (int tries = 0; tries < 5000 && party.reader->read(0, addresses[0], &word, sizeof word); ++tries)
            usleep(1000);
        EXPECT_FALSE(party.reader->read(0, addresses[0], &word, sizeof word)) << "process " << pids[0];
    });
}

}  // namespace
}  // namespace peercoll
