// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/staging_ring.hpp"
#include "collectives/host/stream_copy.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreduceGrouped {
public:
    AllreduceGrouped(HostTeam& team, const AllreduceArguments& arguments, Stores stores)
        : team_(&team), arguments_(arguments), copy_result_(copy_by(stores)) {}
    Progress progress();
    // The groups must be the blocks of the plan, or the bits would differ.
    static bool takes(const HostTeam& team, const ReductionPlan& plan) {
        return team.groups().size() > 1 && plan.blocks() == team.groups();
    }

private:
    enum class Stage : std::uint8_t { Begin, Contribute, ReduceInGroup, Combine, ContributeNext, Gather };
    void begin();
    bool contribute(std::uint64_t chunk);
    void reduce_in_group();
    void combine();
    void gather();
    Slice group_slice(std::size_t group, std::size_t member) const;
    Slice slice(int rank) const;
    std::byte* results(int rank) const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    CopyFunction copy_result_;
    StagingRing chunks_;
    std::uint64_t base_ = 0;
    std::uint64_t chunk_ = 0;
    std::size_t member_ = 0;  // this rank's place in its group
    Stage stage_ = Stage::Begin;
};

}  // namespace peercoll
