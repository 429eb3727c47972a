// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/staging_ring.hpp"
#include "collectives/host/stream_copy.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreduceSlots {
public:
    AllreduceSlots(HostTeam& team, const AllreduceArguments& arguments, Stores stores)
        : team_(&team), arguments_(arguments), streams_(stores == Stores::Streaming) {}
    Progress progress();

private:
    std::uint64_t contributed_step(std::uint64_t chunk) const;
    std::uint64_t folded_step(std::uint64_t chunk) const;
    void begin();
    bool contribute();
    void fold();
    void set_inputs();
    void fold_and_contribute();

    HostTeam* team_;
    AllreduceArguments arguments_;
    StagingRing chunks_;
    std::uint64_t base_ = 0;
    std::uint64_t contributed_ = 0;
    std::uint64_t folded_ = 0;
    bool streams_;
    bool begun_ = false;
};

}  // namespace peercoll
