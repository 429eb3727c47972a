// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/staging_ring.hpp"
#include "collectives/host/stream_copy.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreduceStaged {
public:
    AllreduceStaged(HostTeam& team, const AllreduceArguments& arguments, Stores stores)
        : team_(&team), arguments_(arguments), copy_result_(copy_by(stores)) {}
    Progress progress();

private:
    enum class Stage : std::uint8_t { Begin, Contribute, Reduce, ContributeNext, Gather };
    void begin();
    bool contribute(std::uint64_t chunk);
    void reduce();
    void gather();
    Slice slice(std::uint64_t chunk, int rank) const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    CopyFunction copy_result_;
    StagingRing chunks_;
    std::uint64_t base_ = 0;
    std::uint64_t chunk_ = 0;
    Stage stage_ = Stage::Begin;
};

}  // namespace peercoll
