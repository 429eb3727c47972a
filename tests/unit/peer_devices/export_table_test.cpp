// SPDX-License-Identifier: BSD-3-Clause
// What a process offers of its device memory, and how it tells what has died.
#include "plugin/peer/export_table.hpp"

#include "tests/support/leftovers.hpp"
#include "tests/unit/peer_devices/fake_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace peercoll {
namespace {

using test::FakeNode;
using test::FakeProcess;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct ExportTableTest : testing::Test {
    FakeNode node{1};
    FakeProcess process{node, {0}, {0}};
    const peercoll_device_runtime_t& runtime = FakeProcess::runtime();

    std::vector<peercoll_pointer_info_t> allocate(std::size_t n) {
        std::vector<peercoll_pointer_info_t> all(n);
        for (auto& one : all) one = process.allocate(0, 512);
        return all;
    }
    peercoll_memory_handle_t offer(ExportTable& table, const peercoll_pointer_info_t& memory) {
        peercoll_memory_handle_t handle{};
        table.offer(runtime, memory, handle);
        return handle;
    }
    static std::vector<std::uint64_t> deaths(const ExportTable& table, std::uint64_t& cursor, std::size_t most = 100) {
        std::vector<std::uint64_t> ids(most);
        ids.resize(table.read_deaths(cursor, ids));
        return ids;
    }
};

TEST_F(ExportTableTest, OffersAnAllocationOnce) {
    ExportTable table;
    const auto memory = process.allocate(0, 1000);
    const auto first = offer(table, memory);
    EXPECT_EQ(first.kind, static_cast<peercoll_handle_kind_t>(PEERCOLL_HANDLE_IPC));
    EXPECT_EQ(first.allocation_id, memory.allocation_id);
    EXPECT_EQ(first.base, memory.base);
    EXPECT_EQ(first.bytes, 1000U);
    process.faults.export_refused = true;
    EXPECT_EQ(offer(table, memory).kind, first.kind) << "it is not exported again";
    EXPECT_EQ(table.size(), 1U);
}

TEST_F(ExportTableTest, SaysOfWhatCannotBeSharedThatItCannot) {
    ExportTable table;
    process.handle_kind = 0;
    EXPECT_EQ(offer(table, process.allocate(0, 8)).kind, 0U);
    process.handle_kind = PEERCOLL_HANDLE_IPC;
    process.faults.export_refused = true;
    const auto refused = process.allocate(0, 8);
    EXPECT_EQ(offer(table, refused).kind, 0U);
    process.faults.export_refused = false;
    EXPECT_EQ(offer(table, refused).kind, 0U) << "it is not tried again in every collective";
    peercoll_pointer_info_t host{};
    EXPECT_EQ(offer(table, host).kind, 0U);
    process.free(refused);
    table.recheck();
    EXPECT_EQ(table.deaths(), 0U) << "nobody can have mapped it";
}

TEST_F(ExportTableTest, TellsWhatWasFreedOnce) {
    ExportTable table;
    const auto memory = allocate(3);
    for (const auto& one : memory) offer(table, one);
    std::uint64_t cursor = table.deaths();
    table.recheck();
    EXPECT_THAT(deaths(table, cursor), IsEmpty());
    process.free(memory[1]);
    table.recheck();
    EXPECT_EQ(table.deaths(), 1U);
    EXPECT_THAT(deaths(table, cursor), ElementsAre(memory[1].allocation_id));
    EXPECT_THAT(deaths(table, cursor), IsEmpty());
    EXPECT_EQ(table.size(), 2U);
}

TEST_F(ExportTableTest, TakesAnAddressThatIsUsedAgainForAnotherAllocation) {
    ExportTable table;
    const auto before = process.allocate(0, 512);
    offer(table, before);
    process.free(before);
    const auto after = process.allocate(0, 512);
    ASSERT_EQ(after.base, before.base);
    EXPECT_EQ(offer(table, after).allocation_id, after.allocation_id);
    std::uint64_t cursor = 0;
    table.recheck();
    EXPECT_THAT(deaths(table, cursor), ElementsAre(before.allocation_id));
}

TEST_F(ExportTableTest, LooksAtAFewOfManyEachTimeAndAtAllInTurn) {
    ExportTable table;
    const std::size_t n = 3 * ExportTable::looks_per_recheck;
    const auto memory = allocate(n);
    for (const auto& one : memory) offer(table, one);
    for (const auto& one : memory) process.free(one);
    for (std::size_t round = 1; round <= 3; ++round) {
        table.recheck();
        EXPECT_EQ(table.deaths(), round * ExportTable::looks_per_recheck);
    }
    EXPECT_EQ(table.size(), 0U);
    table.recheck();
    EXPECT_EQ(table.deaths(), n);
}

TEST_F(ExportTableTest, FindsTheOneThatDiedAmongManyWithinOneTurn) {
    ExportTable table;
    const std::size_t n = 5 * ExportTable::looks_per_recheck;
    const auto memory = allocate(n);
    for (const auto& one : memory) offer(table, one);
    table.recheck();
    process.free(memory[3]);  // looked at already
    for (int round = 0; round < 5; ++round) table.recheck();
    EXPECT_EQ(table.deaths(), 1U);
    process.free(memory[70]);
    table.recheck_all();
    EXPECT_EQ(table.deaths(), 2U);
}

TEST_F(ExportTableTest, ForgetsTheOldestBeyondItsCapacityAsDead) {
    ExportTable table(2);
    const auto memory = allocate(3);
    offer(table, memory[0]);
    offer(table, memory[1]);
    offer(table, memory[0]);
    offer(table, memory[2]);
    std::uint64_t cursor = 0;
    EXPECT_THAT(deaths(table, cursor), ElementsAre(memory[1].allocation_id));
    EXPECT_EQ(table.size(), 2U);
    EXPECT_EQ(offer(table, memory[1]).allocation_id, memory[1].allocation_id) << "offered anew";
}

TEST_F(ExportTableTest, TellsDeathsInPiecesToEachReader) {
    ExportTable table;
    const auto memory = allocate(5);
    for (const auto& one : memory) offer(table, one);
    for (const auto& one : memory) process.free(one);
    table.recheck();
    std::uint64_t slow = 0;
    std::uint64_t fast = 0;
    EXPECT_EQ(deaths(table, fast).size(), 5U);
    std::vector<std::uint64_t> told;
    for (int piece = 0; piece < 3; ++piece)
        for (const std::uint64_t id : deaths(table, slow, 2)) told.push_back(id);
    EXPECT_THAT(told, UnorderedElementsAre(memory[0].allocation_id, memory[1].allocation_id, memory[2].allocation_id,
                                           memory[3].allocation_id, memory[4].allocation_id));
}

TEST_F(ExportTableTest, TellsAReaderThatHasMissedSomeThatEverythingIsDead) {
    ExportTable table(1);
    std::uint64_t cursor = 0;
    for (std::size_t i = 0; i < ExportTable::kept_deaths + 2; ++i) {
        const auto memory = process.allocate(0, 64);
        offer(table, memory);
        process.free(memory);
    }
    ASSERT_GT(table.deaths(), ExportTable::kept_deaths);
    EXPECT_THAT(deaths(table, cursor), ElementsAre(ExportTable::everything));
    EXPECT_EQ(cursor, table.deaths());
    EXPECT_THAT(deaths(table, cursor), IsEmpty());
}

TEST_F(ExportTableTest, GivesDescriptorsAndKeepsNone) {
    const auto before = test::descriptors_of_this_process();
    ExportTable table;
    process.handle_kind = PEERCOLL_HANDLE_FD;
    const auto memory = process.allocate(0, 512);
    EXPECT_EQ(offer(table, memory).kind, static_cast<peercoll_handle_kind_t>(PEERCOLL_HANDLE_FD));
    EXPECT_EQ(test::descriptors_of_this_process(), before);
    {
        const OwnedDescriptor descriptor = table.descriptor(runtime, memory.allocation_id);
        EXPECT_TRUE(descriptor);
        EXPECT_EQ(test::descriptors_of_this_process().size(), before.size() + 1);
    }
    EXPECT_EQ(test::descriptors_of_this_process(), before);
    EXPECT_FALSE(table.descriptor(runtime, memory.allocation_id + 1));
    process.free(memory);
    EXPECT_FALSE(table.descriptor(runtime, memory.allocation_id));
    EXPECT_EQ(table.deaths(), 1U) << "it was seen to be dead";
}

TEST_F(ExportTableTest, GivesNoDescriptorWhereTheHandleIsEnough) {
    ExportTable table;
    const auto memory = process.allocate(0, 512);
    offer(table, memory);
    EXPECT_FALSE(table.descriptor(runtime, memory.allocation_id));
}

TEST_F(ExportTableTest, CountsAllOfARuntimeThatIsClosedAsDead) {
    ExportTable table;
    for (const auto& one : allocate(4)) offer(table, one);
    table.close(runtime);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.deaths(), 4U);
}

}  // namespace
}  // namespace peercoll
