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
    bool gather();
    bool inputs_are_there();
    const Slices& slices(std::uint64_t chunk) const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    CopyFunction copy_result_;
    StagingRing chunks_;
    std::size_t results_ = 0;  // where a chunk's results are, behind its contributions; bytes
    std::uint64_t base_ = 0;
    std::uint64_t chunk_ = 0;
    int cursor_ = 1;  // how far from this rank the first one is whose result has not been copied
    Stage stage_ = Stage::Begin;
};

}  // namespace peercoll
