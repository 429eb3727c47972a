// SPDX-License-Identifier: BSD-3-Clause
// Island schedules, evaluated with words instead of numbers: what each rank receives is the plan's expression, whatever
// the islands, and the fewest values cross between them.
#include "collectives/device/island_schedule.hpp"
#include "collectives/device/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace peercoll {
namespace {

using Blocks = std::vector<std::vector<int>>;
using Kind = IslandActor::Kind;

// Ranks whose buffers are each on the device given; -1 is the host. Devices of one island reach each other.
class Node {
public:
    Node(const std::vector<int>& devices, const std::vector<int>& island_of, const Blocks& blocks = {})
        : island_of_(island_of) {
        Blocks all = blocks;
        if (all.empty()) {
            all.emplace_back(devices.size());
            std::iota(all.front().begin(), all.front().end(), 0);
        }
        plan_ = ReductionPlan(all);
        for (const int device : devices) {
            DeviceArrival& arrival = arrivals.emplace_back();
            arrival.source.kind = device < 0 ? BufferFact::Host : BufferFact::Shareable;
            arrival.source.device = device < 0 ? 0 : static_cast<std::uint32_t>(device);
            arrival.source.allocation_id = 1;
            arrival.destination = arrival.source;
        }
    }
    DeviceSituation allreduce() {
        DeviceSituation situation;
        situation.count = 1000;
        situation.element_bytes = 4;
        for (const DeviceArrival& arrival : arrivals) situation.arrivals.push_back(&arrival);
        situation.may_reach = [this](int executor, std::uint32_t from, int owner, std::uint32_t to) {
            return executor == owner || (executor == executor_of(from) && island_of_[from] == island_of_[to]);
        };
        situation.islands.plan = &plan_;
        situation.islands.executor_of = [this](std::uint32_t device) { return executor_of(device); };
        return situation;
    }
    DeviceSituation broadcast(int root) {
        DeviceSituation situation = allreduce();
        situation.collective = PEERCOLL_BROADCAST;
        situation.root = root;
        return situation;
    }
    int executor_of(std::uint32_t device) const {
        for (std::size_t rank = 0; rank < arrivals.size(); ++rank)
            if (arrivals[rank].source.kind != BufferFact::Host && arrivals[rank].source.device == device)
                return static_cast<int>(rank);
        return -1;
    }
    const Blocks& blocks() const { return plan_.blocks(); }
    std::deque<DeviceArrival> arrivals;  // not to be copied

private:
    std::vector<int> island_of_;  // by device
    ReductionPlan plan_;
};

// ---- Evaluating with words ----

// A partial result: blocks of ranks in the order in which they were folded.
using Value = Blocks;

// The blocks of a step's fold. Empty, with a failure, if it is none of a left fold.
Value fold(const std::vector<Value>& inputs, const std::vector<std::uint32_t>& ends, bool rounds_blocks) {
    Value result;
    std::size_t begin = 0;
    for (const std::uint32_t end : ends) {
        Value block = inputs[begin];
        for (std::size_t i = begin + 1; i < end; ++i) {
            const bool single = inputs[i].size() == 1 && inputs[i].front().size() == 1;
            EXPECT_TRUE(single) << "a value of several ranks cannot come behind others";
            EXPECT_EQ(block.size(), 1U);
            EXPECT_FALSE(rounds_blocks && i == begin + 1 && block.front().size() > 1)
                << "a half type's partial block was rounded";
            if (!single || block.size() != 1) return {};
            block.front().push_back(inputs[i].front().front());
        }
        result.insert(result.end(), block.begin(), block.end());
        begin = end;
    }
    return result;
}

// What each rank's destination holds after a round; checks that steps only read what is there.
std::vector<Value> results_of(const IslandRound& round, std::size_t ranks, bool rounds_blocks) {
    std::vector<Value> cells;
    std::vector<Value> results(ranks);
    for (const IslandStep& step : round.steps) {
        std::vector<Value> inputs;
        for (const IslandStep::Input& input : step.inputs) {
            if (input.is_cell && static_cast<std::size_t>(input.index) >= cells.size()) {
                ADD_FAILURE() << "cell " << input.index << " is read before it is written";
                return results;
            }
            inputs.push_back(input.is_cell ? cells[static_cast<std::size_t>(input.index)] : Value{{input.index}});
        }
        const Value value = fold(inputs, step.block_ends, rounds_blocks);
        if (step.cell >= 0) {
            EXPECT_EQ(static_cast<std::size_t>(step.cell), cells.size());
            cells.push_back(value);
        }
        for (const int rank : step.outputs) {
            EXPECT_TRUE(results[static_cast<std::size_t>(rank)].empty()) << "rank " << rank << " is written twice";
            results[static_cast<std::size_t>(rank)] = value;
        }
    }
    return results;
}

// Whether each step's actor reaches what it reads and writes.
void expect_reach(const DeviceSituation& situation, const IslandSchedule& schedule, const IslandRound& round) {
    const auto reaches = [&](const IslandActor& actor, int rank) {
        const BufferFact& fact = situation.arrivals[static_cast<std::size_t>(rank)]->source;
        if (actor.kind == Kind::Processor) return fact.kind == BufferFact::Host && rank == actor.rank;
        return fact.kind == BufferFact::Shareable && situation.may_reach(actor.rank, actor.device, rank, fact.device);
    };
    std::vector<std::size_t> turns(schedule.actors.size());
    for (const IslandStep& step : round.steps) {
        for (const IslandStep::Input& input : step.inputs)
            EXPECT_TRUE(input.is_cell || reaches(schedule.actors[step.actor], input.index));
        for (const int rank : step.outputs) EXPECT_TRUE(reaches(schedule.actors[step.actor], rank));
        EXPECT_EQ(step.turn, turns[step.actor]++);
    }
    EXPECT_EQ(turns, round.steps_of);
    EXPECT_EQ(std::count(turns.begin(), turns.end(), 0U), 0) << "an actor without a step would never be done";
}

void expect_plan(Node& node, const IslandSchedule& schedule, bool rounds_blocks = false) {
    for (const IslandRound& round : schedule.rounds) {
        EXPECT_EQ(round.writers.size(), schedule.cells);
        expect_reach(node.allreduce(), schedule, round);
        for (const Value& result : results_of(round, node.arrivals.size(), rounds_blocks))
            EXPECT_EQ(result, node.blocks());
    }
}

// Values that cross to the finisher; the result's own cell not counted.
std::size_t values_of(const IslandSchedule& schedule) {
    return schedule.cells - 1;
}

// ---- Allreduce ----

TEST(IslandSchedule, OfTwoIslandsInRankOrderLetsOneValueCross) {
    Node node({0, 1, 2, 3}, {0, 0, 1, 1});
    const auto schedule = schedule_islands(node.allreduce());
    ASSERT_TRUE(schedule);
    EXPECT_EQ(values_of(*schedule), 1U);
    EXPECT_EQ(schedule->rounds.size(), 1U) << "only the second island can go on from the first one's value";
    expect_plan(node, *schedule);
}

TEST(IslandSchedule, OfThreeIslandsInRankOrderHandsTheValueOn) {
    Node node({0, 1, 2, 3, 4, 5}, {0, 0, 1, 1, 2, 2});
    const auto schedule = schedule_islands(node.allreduce());
    ASSERT_TRUE(schedule);
    EXPECT_EQ(values_of(*schedule), 2U);
    expect_plan(node, *schedule);
}

TEST(IslandSchedule, OfIslandsThatAreBlocksOfThePlanTakesTurnsInFinishing) {
    Node node({0, 1, 2, 3}, {0, 1, 0, 1}, {{0, 2}, {1, 3}});
    for (const bool half : {false, true}) {
        DeviceSituation situation = node.allreduce();
        situation.islands.rounds_blocks = half;
        const auto schedule = schedule_islands(situation);
        ASSERT_TRUE(schedule);
        EXPECT_EQ(values_of(*schedule), 1U);
        EXPECT_EQ(schedule->rounds.size(), 2U);
        expect_plan(node, *schedule, half);
    }
}

TEST(IslandSchedule, OfHalfTypesLetsTheInputsOfADividedBlockCross) {
    Node node({0, 1, 2, 3, 3}, {0, 0, 1, 1});
    DeviceSituation situation = node.allreduce();
    situation.islands.rounds_blocks = true;
    const auto schedule = schedule_islands(situation);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(values_of(*schedule), 2U) << "those of the smaller island";
    expect_plan(node, *schedule, true);
}

TEST(IslandSchedule, OfRanksOnTheHostAndOnDevicesFoldsOnTheDevice) {
    Node node({-1, 0, 0, 1, 1}, {0, 0});
    const auto schedule = schedule_islands(node.allreduce());
    ASSERT_TRUE(schedule);
    EXPECT_EQ(values_of(*schedule), 1U);
    EXPECT_EQ(schedule->actors.size(), 2U);
    expect_plan(node, *schedule);
}

TEST(IslandSchedule, OfARankInTheMiddleWhoseMemoryNobodyElseReachesCopiesIt) {
    Node node({0, 0, 0, 0}, {0});
    node.arrivals[1].source.kind = node.arrivals[1].destination.kind = BufferFact::Unshareable;
    const auto schedule = schedule_islands(node.allreduce());
    ASSERT_TRUE(schedule);
    ASSERT_EQ(schedule->actors.size(), 2U);
    EXPECT_EQ(schedule->actors[1], (IslandActor{Kind::Copies, 1, 0}));
    for (const IslandStep& step : schedule->rounds.front().steps) {
        const std::size_t written = step.outputs.size() + (step.cell >= 0 ? 1 : 0);
        EXPECT_TRUE(step.actor != 1 || (step.inputs.size() == 1 && written == 1));
    }
    for (const Value& result : results_of(schedule->rounds.front(), 4, false)) EXPECT_EQ(result, node.blocks());
}

TEST(IslandSchedule, ThereIsNoneWhereStagingCrossesAsOften) {
    EXPECT_FALSE(schedule_islands(Node({0, 1}, {0, 1}).allreduce())) << "each island is one rank";
    EXPECT_FALSE(schedule_islands(Node({0, 0, -1, -1}, {0}).allreduce())) << "as many values come from the host";
    EXPECT_FALSE(schedule_islands(Node({0, 1}, {0, 1}).broadcast(0)));
}

TEST(IslandSchedule, ThereIsNoneWhereARankWouldActForTwoDevices) {
    Node node({0, 0, 1, 1}, {0, 1});
    DeviceSituation situation = node.allreduce();
    situation.may_reach = [](int, std::uint32_t from, int, std::uint32_t to) { return from == to; };
    situation.islands.executor_of = [](std::uint32_t) { return 0; };
    EXPECT_FALSE(schedule_islands(situation));
}

// ---- Broadcast ----

TEST(IslandSchedule, OfABroadcastLetsTheMessageCrossOnce) {
    Node node({0, 1, 2, 2, -1, 1}, {0, 0, 1});
    for (int root = 0; root < 6; ++root) {
        const auto schedule = schedule_islands(node.broadcast(root));
        ASSERT_TRUE(schedule);
        EXPECT_EQ(schedule->cells, 1U);
        ASSERT_EQ(schedule->rounds.size(), 1U);
        expect_reach(node.broadcast(root), *schedule, schedule->rounds.front());
        const std::vector<Value> results = results_of(schedule->rounds.front(), 6, false);
        for (int rank = 0; rank < 6; ++rank)
            EXPECT_EQ(results[static_cast<std::size_t>(rank)], rank == root ? Value{} : Value{{root}});
    }
}

// ---- Anything ----

TEST(IslandSchedule, OfAnyIslandsAndAnyPlanEvaluatesThePlan) {
    std::mt19937 random(20);  // NOLINT(bugprone-random-generator-seed): the same cases in each run
    int schedules = 0;
    for (int round = 0; round < 3'000; ++round) {
        const int ranks = 2 + static_cast<int>(random() % 9);
        const int devices = 1 + static_cast<int>(random() % 5);
        std::vector<int> places;
        for (int rank = 0; rank < ranks; ++rank)
            places.push_back(static_cast<int>(random() % static_cast<unsigned>(devices + 1)) - 1);
        std::vector<int> island_of;
        for (int device = 0; device < devices; ++device) island_of.push_back(static_cast<int>(random() % 3));
        Blocks blocks(1 + random() % 3);
        for (int rank = 0; rank < ranks; ++rank) blocks[random() % blocks.size()].push_back(rank);
        blocks.erase(
            std::remove_if(blocks.begin(), blocks.end(), [](const std::vector<int>& block) { return block.empty(); }),
            blocks.end());
        Node node(places, island_of, blocks);
        DeviceSituation situation = node.allreduce();
        situation.islands.rounds_blocks = random() % 2 == 0;
        const auto schedule = schedule_islands(situation);
        if (!schedule) continue;
        ++schedules;
        for (const IslandRound& one : schedule->rounds) {
            expect_reach(situation, *schedule, one);
            for (const Value& result :
                 results_of(one, static_cast<std::size_t>(ranks), situation.islands.rounds_blocks))
                ASSERT_EQ(result, node.blocks()) << "case " << round;
        }
    }
    EXPECT_GT(schedules, 500);
}

}  // namespace
}  // namespace peercoll
