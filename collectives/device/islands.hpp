// SPDX-License-Identifier: BSD-3-Clause
// Islands at work: allreduce and broadcast of device buffers of which no device reaches all, or not all are on devices.
//
// Used when select_device() has made an island schedule (island_schedule.hpp), which says who does what and why.
//
//   all ranks    know the same schedule
//   executors    map their island's buffers, give their verdicts      --> refused by one: nothing was written, all
//   stage actors       take their steps, chunk by chunk, four chunks at a time (island_actor.hpp) all ranks    wait
//   until every actor is done with its last chunks
//
// Cost for two islands: a launch for each chunk and stage, and on each island's link n bytes out and n bytes in,
// however many ranks there are; staged it would be that for each rank.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/device/executor_mappings.hpp"
#include "collectives/device/island_actor.hpp"
#include "collectives/device/island_schedule.hpp"
#include "collectives/task.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peercoll {

class Islands {
public:
    // Right after the meeting that told of the buffers.
    Islands(DeviceTeam& team, const DeviceWork& work, IslandSchedule schedule);

    Progress progress();
    // Once Done: an actor could not do it and nothing was written; all ranks see the same, and why.
    bool refused() const { return refused_; }
    // Why it was refused, or has failed.
    const std::string& reason() const { return reason_; }
    // Of this rank's own device.
    HostCrossings crossings() const;

private:
    enum class Stage : std::uint8_t { Begin, Map, Verdicts, Work, Drain, End };

    Progress begin();
    Progress map();
    Progress hear_verdicts();
    Progress work();
    bool all_are_done();
    bool another_has_failed();
    std::uint64_t last_step() const { return operation_->end_of(operation_->chunks.size() - 1) + 1; }

    DeviceTeam* team_;
    std::unique_ptr<IslandOperation> operation_;  // stays where it is, for the actors
    ExecutorMappings mappings_;
    std::vector<IslandActorWork> actors_;  // of this rank
    Stage stage_ = Stage::Begin;
    std::uint64_t verdict_ = 0;    // step
    std::size_t done_actors_ = 0;  // the first so many are done with everything
    bool refused_ = false;
    std::string reason_;
};

}  // namespace peercoll
