// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand rounds of what applications do: allocate, offer, map, free, with changing sizes. Owners tell what died,
// importers let go, and no memory is in use that nobody needs.
#include "plugin/peer/export_table.hpp"
#include "plugin/peer/mapping_cache.hpp"
#include "tests/support/process_group.hpp"
#include "tests/support/random_seed.hpp"
#include "tests/unit/gather.hpp"
#include "tests/unit/peer_devices/fake_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace peercoll {
namespace {

using test::FakeNode;
using test::FakeProcess;
using test::Rank;
using test::run_ranks;

constexpr int rounds = 10'000;
constexpr std::size_t most_bytes = 64 << 10;

// What a rank publishes in each round, as an arrival would.
struct Arrival {
    peercoll_memory_handle_t handle;
    std::uint64_t word;
    std::uint64_t n_dead;
    std::array<std::uint64_t, 4> dead;
};

// The owner's part of a round: an allocation, perhaps in place of an earlier one, and what has died since the last.
class Owner {
public:
    explicit Owner(FakeProcess& process, std::uint64_t seed) : process_(process), random_(seed) {}

    Arrival arrive() {
        const std::size_t place = random_() % memory_.size();
        if (memory_[place].bytes == 0 || random_() % 3 != 0) {
            if (memory_[place].bytes != 0) process_.free(memory_[place]);
            memory_[place] = process_.allocate(0, 8 + random_() % most_bytes);
        }
        Arrival arrival{};
        arrival.word = random_();
        std::memcpy(reinterpret_cast<void*>(memory_[place].base), &arrival.word, sizeof arrival.word);
        table_.recheck();
        table_.offer(FakeProcess::runtime(), memory_[place], arrival.handle);
        arrival.n_dead = table_.read_deaths(cursor_, arrival.dead);
        return arrival;
    }
    void free_all() {
        for (auto& one : memory_)
            if (one.bytes != 0) process_.free(std::exchange(one, {}));
    }

private:
    FakeProcess& process_;
    std::mt19937_64 random_;
    std::array<peercoll_pointer_info_t, 6> memory_{};
    ExportTable table_;
    std::uint64_t cursor_ = 0;
};

TEST(MappingRounds, OfAllocateMapAndFreeDoNotGrow) {
    const std::uint64_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_text(seed));
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.overlap_refused = true;
        const auto identities = test::gather(rank.exchange(), ProcessIdentity::of_this_process());
        Owner owner(process, seed + static_cast<std::uint64_t>(rank.rank()));
        MappingCache cache(std::uint64_t{1} << 30);
        const auto other = static_cast<std::size_t>(1 - rank.rank());
        std::size_t most_in_use = 0;
        std::size_t most_entries = 0;
        for (int round = 0; round < rounds && rank.failures() == 0; ++round) {
            const auto all = test::gather(rank.exchange(), owner.arrive());
            const Arrival& theirs = all[other];
            for (std::size_t i = 0; i < theirs.n_dead; ++i) cache.forget(identities[other], theirs.dead[i]);
            {
                MappingCache::Use use(cache, nullptr);
                std::uint64_t address = 0;
                const Status status =
                    cache.map(use, FakeProcess::runtime(), 0, identities[other], theirs.handle, -1, address);
                ASSERT_TRUE(status.ok()) << status.sentence() << " in round " << round;
                ASSERT_EQ(std::memcmp(reinterpret_cast<const void*>(address), &theirs.word, sizeof theirs.word), 0)
                    << "another allocation's memory in round " << round;
            }
            EXPECT_TRUE(rank.exchange().meet());
            most_in_use = std::max(most_in_use, node.bytes_in_use());
            most_entries = std::max<std::size_t>(most_entries, cache.counters().entries);
        }
        // Six allocations of each rank live; what died in this round is told in the next.
        EXPECT_LE(most_in_use, 2 * 7 * (most_bytes + 8));
        EXPECT_LE(most_entries, 7U);
        EXPECT_GT(cache.counters().mapped, static_cast<std::uint64_t>(rounds) / 3);
        EXPECT_EQ(cache.counters().refused, 0U);
        owner.free_all();
        cache.clear();
        EXPECT_TRUE(rank.exchange().meet());
        EXPECT_EQ(node.bytes_in_use(), 0U);
    });
}

}  // namespace
}  // namespace peercoll
