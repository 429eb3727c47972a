// SPDX-License-Identifier: BSD-3-Clause
// One actor of an island schedule at work on its rank: it takes its steps for up to four chunks at a time, each when
// what it reads is there, and tells the others by turn numbers in the device segment.
//
//   chunk 0   [fold to cell]          [copy result]
//   chunk 1            [fold to cell]          [copy result]        each chunk on a stream of its own
//
// A device writes its turn number itself where it reaches the segment; else its rank looks at the stream and writes it.
// Where its kernels do not reach host memory they work on a mirror of the cells in device memory, with copies around.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/device/executor_mappings.hpp"
#include "collectives/device/fused.hpp"
#include "collectives/device/island_schedule.hpp"
#include "collectives/host/chunks.hpp"
#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/plan.hpp"
#include "plugin/common/status.hpp"
#include "plugin/device/stream_pool.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

// What all actors of one operation have in common; the same on all ranks.
struct IslandOperation {
    static constexpr std::size_t slots = ExecutorRecord::island_slots;

    DeviceTeam* team = nullptr;
    DeviceWork work;
    IslandSchedule schedule;
    Chunks chunks;
    std::size_t cell_bytes = 0;
    std::uint64_t base = 0;  // the turns of the operation are the steps after it

    // Offset of a chunk's cell in the pool.
    std::size_t cell(std::uint64_t chunk, int cell) const {
        return (chunk % slots * schedule.cells + static_cast<std::size_t>(cell)) * cell_bytes;
    }
    // The turn up to which an actor is done once it has taken its step `turn` for a chunk, or all of them.
    std::uint64_t turn_after(std::uint64_t chunk, std::size_t turn, std::size_t steps) const {
        return base + chunk * schedule.most_steps + (turn + 1 == steps ? schedule.most_steps : turn + 1);
    }
    std::uint64_t end_of(std::uint64_t chunk) const { return base + (chunk + 1) * schedule.most_steps; }
    std::atomic<std::uint64_t>& turns(std::size_t actor, std::uint64_t chunk) const {
        const IslandActor& one = schedule.actors[actor];
        ExecutorRecord& record = team->executor(one.rank);
        const std::size_t slot = chunk % slots;
        return one.kind == IslandActor::Kind::Processor ? record.processor_turns[slot] : record.device_turns[slot];
    }
};

// Bytes that devices wrote into host memory and read from it.
struct HostCrossings {
    std::uint64_t written = 0;
    std::uint64_t read = 0;
};

class IslandActorWork {
public:
    // `operation` outlives the object.
    IslandActorWork(const IslandOperation& operation, std::size_t actor);

    bool is_device() const { return actor_->kind != IslandActor::Kind::Processor; }
    // Maps what the actor works on, and makes streams. PEERCOLL_ERR_BUSY: call again.
    Status prepare(ExecutorMappings& mappings);
    // Takes the steps that can be taken. `moved` is set if there were any.
    Status advance(bool& moved);
    // Whether nothing that was started is under way any more; for the end of an operation that has failed.
    bool is_idle();
    const HostCrossings& crossings() const { return crossings_; }

private:
    struct Step {
        const IslandStep* step;
        ReductionPlan plan;  // of its inputs, for processors
    };
    struct Lane {
        std::uint64_t chunk = 0;
        std::size_t next = 0;       // of the chunk's steps
        std::uint64_t started = 0;  // the turn of the last one
        LentStream stream;
    };

    const std::vector<Step>& steps_for(std::uint64_t chunk) const { return steps_[chunk % steps_.size()]; }
    std::size_t first_byte(std::uint64_t chunk) const;
    std::size_t bytes_of(std::uint64_t chunk) const;
    Status map_buffers(ExecutorMappings& mappings);
    Status advance(Lane& lane, bool& moved);
    bool slot_is_free(std::uint64_t chunk) const;
    bool inputs_are_there(std::uint64_t chunk, const IslandStep& step) const;
    void publish(const Lane& lane) const;
    Status look_at(Lane& lane);
    void compute(std::uint64_t chunk, const Step& step) const;
    Status copy(Lane& lane, const IslandStep& step) const;
    Status fold(Lane& lane, const IslandStep& step);
    void count(std::uint64_t chunk, const IslandStep& step);

    const IslandOperation* operation_;
    const IslandActor* actor_;
    std::size_t index_;
    std::vector<std::vector<Step>> steps_;  // by round
    std::array<Lane, IslandOperation::slots> lanes_;
    HostCrossings crossings_;
    std::uint32_t looks_ = 0;
    // A device.
    const peercoll_device_runtime_t* runtime_ = nullptr;
    std::int32_t device_ = -1;
    int mapped_ranks_ = 0;
    std::vector<std::uint64_t> sources_;  // by rank, those it works on
    std::vector<std::uint64_t> destinations_;
    std::uint64_t pool_ = 0;  // where its kernels find the cells
    bool mirrored_ = false;
    bool flagged_ = false;  // the device writes its turns
    // A processor.
    FoldFunction fold_ = nullptr;
};

}  // namespace peercoll
