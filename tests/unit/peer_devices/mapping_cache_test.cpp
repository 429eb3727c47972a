// SPDX-License-Identifier: BSD-3-Clause
// What one process keeps mapped of another's device memory. Rank 0 owns, rank 1 maps.
#include "plugin/peer/mapping_cache.hpp"

#include "plugin/peer/export_table.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"
#include "tests/unit/peer_devices/fake_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstring>
#include <functional>
#include <vector>

namespace peercoll {
namespace {

using test::FakeNode;
using test::FakeProcess;
using test::Rank;
using test::run_ranks;
using testing::HasSubstr;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

struct Offers {
    static constexpr std::size_t n = 8;
    peercoll_memory_handle_t handles[n];
};
static_assert(sizeof(Offers) <= test::ExchangeArea::slot_bytes);

// What the importer's part of a test is given.
struct Importer {
    Rank& rank;
    FakeProcess& process;
    ProcessIdentity owner;
    std::vector<peercoll_memory_handle_t> handles;

    Status map(MappingCache& cache, MappingCache::Use& use, std::size_t i, std::uint64_t& address, int fd = -1) {
        return cache.map(use, FakeProcess::runtime(), 0, owner, handles[i], fd, address);
    }
    bool maps(MappingCache& cache, MappingCache::Use& use, std::size_t i) {
        std::uint64_t address = 0;
        return map(cache, use, i, address).ok();
    }
    // Lets the owner take its next step.
    void owner_goes_on() {
        EXPECT_TRUE(rank.exchange(2).meet());
        EXPECT_TRUE(rank.exchange(2).meet());
    }
};

using OwnerSteps = std::vector<std::function<void(FakeProcess&, std::vector<peercoll_pointer_info_t>&)>>;

// Rank 0 offers allocations of `bytes` each, and takes `steps` when the importer says so.
void run(const std::function<void(Importer&)>& import, std::size_t bytes = 1000, const OwnerSteps& steps = {},
         peercoll_handle_kind_t kind = PEERCOLL_HANDLE_IPC) {
    FakeNode node(2);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0, 1}, {0, 1});
        process.handle_kind = kind;
        Offers offers{};
        std::vector<peercoll_pointer_info_t> memory;
        ExportTable table;
        if (rank.rank() == 0)
            for (auto& handle : offers.handles) {
                memory.push_back(process.allocate(0, bytes));
                table.offer(FakeProcess::runtime(), memory.back(), handle);
            }
        const auto identities = test::gather(rank.exchange(0), ProcessIdentity::of_this_process());
        const auto all = test::gather(rank.exchange(1), offers);
        if (rank.rank() == 0) {
            for (const auto& step : steps) {
                EXPECT_TRUE(rank.exchange(2).meet());
                step(process, memory);
                EXPECT_TRUE(rank.exchange(2).meet());
            }
        } else {
            Importer importer{rank, process, identities[0], {all[0].handles, all[0].handles + Offers::n}};
            import(importer);
        }
        EXPECT_TRUE(rank.exchange(3).meet());
        EXPECT_EQ(node.mappings(), 0U) << "mappings are left";
    });
}

TEST(MappingCache, MapsAnAllocationOnce) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        std::uint64_t first = 0;
        {
            MappingCache::Use use(cache, &importer);
            ASSERT_TRUE(importer.map(cache, use, 0, first).ok());
            EXPECT_NE(first, 0U);
            EXPECT_NE(first, importer.handles[0].base);
        }
        MappingCache::Use use(cache, &importer);
        std::uint64_t second = 0;
        ASSERT_TRUE(importer.map(cache, use, 0, second).ok());
        EXPECT_EQ(second, first);
        EXPECT_EQ(importer.process.imports(), 1U);
        EXPECT_EQ(cache.counters().mapped, 1U);
        EXPECT_EQ(cache.counters().reused, 1U);
        EXPECT_EQ(cache.counters().bytes, 1000U);
        EXPECT_EQ(cache.counters().entries, 1U);
    });
}

TEST(MappingCache, ReadsWhatTheOwnerHasWritten) {
    run(
        [](Importer& importer) {
            MappingCache cache(no_limit);
            MappingCache::Use use(cache, nullptr);
            importer.owner_goes_on();
            std::uint64_t address = 0;
            ASSERT_TRUE(importer.map(cache, use, 3, address).ok());
            std::uint64_t word = 0;
            std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
            EXPECT_EQ(word, 4711U);
        },
        1000, {[](FakeProcess&, auto& memory) {
            const std::uint64_t word = 4711;
            std::memcpy(reinterpret_cast<void*>(memory[3].base), &word, sizeof word);
        }});
}

TEST(MappingCache, LetsGoOfTheLongestUnusedBeyondItsLimit) {
    run([](Importer& importer) {
        MappingCache cache(3000);
        for (const std::size_t i : {0, 1, 2, 0, 3}) {
            MappingCache::Use use(cache, nullptr);
            EXPECT_TRUE(importer.maps(cache, use, i));
        }
        EXPECT_EQ(cache.counters().evicted, 1U);
        EXPECT_EQ(cache.counters().bytes, 3000U);
        const std::uint64_t imports = importer.process.imports();
        MappingCache::Use use(cache, nullptr);
        for (const std::size_t i : {0, 2, 3}) EXPECT_TRUE(importer.maps(cache, use, i));
        EXPECT_EQ(importer.process.imports(), imports) << "1 was the one that went";
        EXPECT_TRUE(importer.maps(cache, use, 1));
        EXPECT_EQ(importer.process.imports(), imports + 1);
    });
}

TEST(MappingCache, LetsGoOfNothingThatACollectiveUses) {
    run([](Importer& importer) {
        MappingCache cache(2000);
        MappingCache::Use use(cache, nullptr);
        for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(importer.maps(cache, use, i));
        EXPECT_EQ(importer.process.releases(), 0U);
        EXPECT_EQ(cache.counters().bytes, 5000U) << "what is needed at once is mapped at once";
        use.end();
        EXPECT_EQ(cache.counters().bytes, 2000U);
        EXPECT_EQ(importer.process.releases(), 3U);
        EXPECT_TRUE(importer.maps(cache, use, 4));
        EXPECT_EQ(importer.process.imports(), 5U) << "the latest ones were kept";
    });
}

TEST(MappingCache, AUseThatIsMovedStillHolds) {
    run([](Importer& importer) {
        MappingCache cache(0);
        MappingCache::Use outer;
        {
            MappingCache::Use use(cache, nullptr);
            EXPECT_TRUE(importer.maps(cache, use, 0));
            EXPECT_TRUE(importer.maps(cache, use, 0));
            outer = std::move(use);
        }
        EXPECT_EQ(importer.process.releases(), 0U);
        const MappingCache::Use inner(std::move(outer));
        outer.end();
        EXPECT_EQ(importer.process.releases(), 0U);
    });
}

TEST(MappingCache, ForgetsWhatTheOwnerSaysIsDead) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        MappingCache::Use use(cache, nullptr);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(importer.maps(cache, use, i));
        use.end();
        cache.forget(importer.owner, importer.handles[1].allocation_id);
        EXPECT_EQ(importer.process.releases(), 1U);
        ProcessIdentity other = importer.owner;
        ++other.start_time;
        cache.forget(other, importer.handles[0].allocation_id);
        EXPECT_EQ(importer.process.releases(), 1U) << "another process with the same pid";
        cache.forget(importer.owner, ExportTable::everything);
        EXPECT_EQ(importer.process.releases(), 3U);
        EXPECT_EQ(cache.counters().forgotten, 3U);
        EXPECT_EQ(cache.counters().entries, 0U);
    });
}

TEST(MappingCache, KeepsTheDeadThatIsInUseUntilTheUseEnds) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        MappingCache::Use use(cache, nullptr);
        EXPECT_TRUE(importer.maps(cache, use, 0));
        cache.forget(importer.owner, importer.handles[0].allocation_id);
        EXPECT_EQ(importer.process.releases(), 0U);
        use.end();
        EXPECT_EQ(importer.process.releases(), 1U);
    });
}

TEST(MappingCache, LetsGoOfWhatItsLastUserLeaves) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        const int one = 0;
        const int two = 0;
        for (const auto& [user, first] : {std::pair(&one, std::size_t{0}), std::pair(&two, std::size_t{1})}) {
            MappingCache::Use use(cache, user);
            for (std::size_t i = first; i < first + 2; ++i) EXPECT_TRUE(importer.maps(cache, use, i));
        }
        EXPECT_EQ(importer.process.imports(), 3U);
        cache.leave(&one);
        EXPECT_EQ(importer.process.releases(), 1U) << "the other user has the second one, too";
        cache.leave(&one);
        EXPECT_EQ(importer.process.releases(), 1U);
        cache.leave(&two);
        EXPECT_EQ(importer.process.releases(), 3U);
    });
}

TEST(MappingCache, AnAddressThatIsFreedAndUsedAgainIsAnotherEntry) {
    FakeNode node(1);
    run_ranks(2, [&](Rank& rank) {
        FakeProcess process(node, {0}, {0});
        process.faults.overlap_refused = true;
        const auto identities = test::gather(rank.exchange(0), ProcessIdentity::of_this_process());
        ExportTable table;
        MappingCache cache(no_limit);
        std::uint64_t base = 0;
        for (int round = 0; round < 20; ++round) {
            peercoll_memory_handle_t handle{};
            peercoll_pointer_info_t memory{};
            if (rank.rank() == 0) {
                memory = process.allocate(0, 4096 + 512 * static_cast<std::size_t>(round));
                std::memset(reinterpret_cast<void*>(memory.base), round, memory.bytes);
                table.offer(FakeProcess::runtime(), memory, handle);
            }
            handle = test::gather(rank.exchange(1), handle)[0];
            if (round == 0) base = handle.base;
            EXPECT_EQ(handle.base, base) << "the address is used again";
            if (rank.rank() == 1) {
                MappingCache::Use use(cache, nullptr);
                std::uint64_t address = 0;
                const Status status = cache.map(use, FakeProcess::runtime(), 0, identities[0], handle, -1, address);
                ASSERT_TRUE(status.ok()) << status.sentence() << ", though the stale mapping can be let go";
                EXPECT_EQ(*reinterpret_cast<const unsigned char*>(address), round);
                EXPECT_EQ(cache.counters().entries, 1U);
            }
            EXPECT_TRUE(rank.exchange(1).meet());
            if (rank.rank() == 0) process.free(memory);
            EXPECT_TRUE(rank.exchange(1).meet());
        }
        cache.clear();
        EXPECT_TRUE(rank.exchange(1).meet());
        EXPECT_EQ(node.bytes_in_use(), 0U);
    });
}

TEST(MappingCache, ARefusalIsRememberedUntilTheAllocationIsForgotten) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        MappingCache::Use use(cache, nullptr);
        importer.process.faults.import_refused = true;
        std::uint64_t address = 1;
        const Status status = importer.map(cache, use, 0, address);
        EXPECT_EQ(status.code(), PEERCOLL_ERR_SYSTEM);
        EXPECT_THAT(status.sentence(), HasSubstr("imports are refused here"));
        EXPECT_EQ(address, 0U);
        importer.process.faults.import_refused = false;
        EXPECT_EQ(importer.map(cache, use, 0, address).sentence(), status.sentence());
        EXPECT_EQ(cache.counters().refused, 1U) << "it was not asked again";
        cache.forget(importer.owner, importer.handles[0].allocation_id);
        EXPECT_TRUE(importer.maps(cache, use, 0));
    });
}

TEST(MappingCache, ChecksWhatTheOwnerHasSent) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        MappingCache::Use use(cache, nullptr);
        const peercoll_memory_handle_t good = importer.handles[0];
        const auto refused = [&](const std::function<void(peercoll_memory_handle_t&)>& spoil) {
            importer.handles[0] = good;
            spoil(importer.handles[0]);
            std::uint64_t address = 0;
            return !importer.map(cache, use, 0, address).ok();
        };
        EXPECT_TRUE(refused([](auto& handle) { handle.kind = 0; }));
        EXPECT_TRUE(refused([](auto& handle) { handle.kind = 99; }));
        EXPECT_TRUE(refused([](auto& handle) { handle.allocation_id = 0; }));
        EXPECT_TRUE(refused([](auto& handle) { handle.base = 0; }));
        EXPECT_TRUE(refused([](auto& handle) { handle.bytes = 0; }));
        EXPECT_TRUE(refused([](auto& handle) { handle.bytes = no_limit; }));
        EXPECT_EQ(importer.process.imports(), 0U);
        EXPECT_TRUE(refused([](auto& handle) { ++handle.bytes; })) << "more than there is";
        EXPECT_EQ(importer.process.imports(), importer.process.releases());
        EXPECT_EQ(cache.counters().bytes, 0U);
        importer.handles[0] = good;
        cache.forget(importer.owner, good.allocation_id);
        EXPECT_TRUE(importer.maps(cache, use, 0));
    });
}

TEST(MappingCache, AsksForADescriptorOnceWhereTheKindNeedsOne) {
    run(
        [](Importer& importer) {
            MappingCache cache(no_limit);
            MappingCache::Use use(cache, nullptr);
            const auto needs = [&] {
                return cache.needs_descriptor(FakeProcess::runtime(), 0, importer.owner, importer.handles[0]);
            };
            EXPECT_TRUE(needs());
            std::uint64_t address = 0;
            EXPECT_EQ(importer.map(cache, use, 0, address).code(), PEERCOLL_ERR_BUSY);
            EXPECT_TRUE(needs()) << "a missing descriptor is no refusal";
            EXPECT_TRUE(importer.map(cache, use, 0, address, STDERR_FILENO).ok());
            EXPECT_FALSE(needs());
            EXPECT_TRUE(importer.map(cache, use, 0, address).ok());
        },
        1000, {}, PEERCOLL_HANDLE_FD);
}

TEST(MappingCache, GivesTheAddressItselfWithinTheProcess) {
    FakeNode node(2);
    run_ranks(1, [&](Rank&) {
        FakeProcess process(node, {0, 1}, {0, 1});
        const ProcessIdentity self = ProcessIdentity::of_this_process();
        const auto memory = process.allocate(0, 1000);
        ExportTable table;
        peercoll_memory_handle_t handle{};
        table.offer(FakeProcess::runtime(), memory, handle);
        MappingCache cache(no_limit);
        MappingCache::Use use(cache, nullptr);
        for (const std::int32_t device : {0, 1, 1}) {
            std::uint64_t address = 0;
            EXPECT_TRUE(cache.map(use, FakeProcess::runtime(), device, self, handle, -1, address).ok());
            EXPECT_EQ(address, memory.base);
        }
        EXPECT_EQ(process.imports(), 0U);
        EXPECT_EQ(process.enabled_peers(), 1U) << "device 1 reaches device 0";
        process.free(memory);
        std::uint64_t address = 0;
        EXPECT_EQ(cache.map(use, FakeProcess::runtime(), 0, self, handle, -1, address).code(),
                  PEERCOLL_ERR_INVALID_ARGUMENT);
        use.end();
        cache.clear();
        EXPECT_EQ(process.enabled_peers(), 0U);
    });
}

TEST(MappingCache, IsEmptyAfterClearAndServesAgain) {
    run([](Importer& importer) {
        MappingCache cache(no_limit);
        {
            MappingCache::Use use(cache, nullptr);
            for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(importer.maps(cache, use, i));
        }
        cache.clear();
        EXPECT_EQ(importer.process.releases(), 4U);
        EXPECT_EQ(cache.counters().bytes, 0U);
        MappingCache::Use use(cache, nullptr);
        EXPECT_TRUE(importer.maps(cache, use, 0));
    });
}

}  // namespace
}  // namespace peercoll
