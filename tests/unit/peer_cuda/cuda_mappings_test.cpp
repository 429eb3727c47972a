// SPDX-License-Identifier: BSD-3-Clause
// Exports and mappings over the CUDA backend, while the owner frees and allocates.
#include "plugin/peer/export_table.hpp"
#include "plugin/peer/mapping_cache.hpp"
#include "tests/unit/cuda_device/application.hpp"
#include "tests/unit/gather.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace peercoll::test {
namespace {

struct Arrival {
    peercoll_memory_handle_t handle;
    std::uint64_t n_dead;
    std::array<std::uint64_t, 4> dead;
};

std::vector<std::uint8_t> bytes_of(int round) {
    return std::vector<std::uint8_t>(4096, static_cast<std::uint8_t>(round));
}

// Rank 0 frees and allocates in each round, so that addresses are used again; rank 1 maps and reads.
TEST(CudaMappings, FollowAllocationsAndNotAddresses) {
    constexpr int rounds = 100;
    run_ranks(2, [](Rank& rank) {
        Application application({.node = "devices 1\n"});
        application.use(0);
        peercoll_reason_t reason{};
        ASSERT_EQ(cuda_device().open(&reason), PEERCOLL_SUCCESS) << reason.text;
        const auto identities = gather(rank.exchange(), ProcessIdentity::of_this_process());
        {
            ExportTable table;
            MappingCache cache(std::uint64_t{1} << 30);
            std::uint64_t cursor = 0;
            cuda::CuAddress memory = 0;
            for (int round = 0; round < rounds && rank.failures() == 0; ++round) {
                Arrival mine{};
                if (rank.rank() == 0) {
                    if (memory != 0) application.free(memory);
                    memory = application.allocate(4096 * (1 + static_cast<std::size_t>(round % 5)));
                    application.write(memory, bytes_of(round));
                    table.recheck();
                    table.offer(cuda_device(), classified(memory), mine.handle);
                    mine.n_dead = table.read_deaths(cursor, mine.dead);
                    EXPECT_EQ(mine.n_dead, round == 0 ? 0U : 1U);
                }
                const Arrival theirs = gather(rank.exchange(), mine)[0];
                if (rank.rank() == 1) {
                    for (std::size_t i = 0; i < theirs.n_dead; ++i) cache.forget(identities[0], theirs.dead[i]);
                    MappingCache::Use use(cache, nullptr);
                    std::uint64_t address = 0;
                    const Status status = cache.map(use, cuda_device(), 0, identities[0], theirs.handle, -1, address);
                    ASSERT_TRUE(status.ok()) << status.sentence();
                    EXPECT_EQ(application.read(address, 4096), bytes_of(round)) << round;
                    EXPECT_EQ(cache.counters().entries, 1U);
                }
                EXPECT_TRUE(rank.exchange().meet());
            }
            cache.clear();
            EXPECT_TRUE(rank.exchange().meet());
            if (memory != 0) application.free(memory);
        }
        cuda_device().close();
    });
}

}  // namespace
}  // namespace peercoll::test
