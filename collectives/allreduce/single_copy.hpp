// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/host/chunks.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/task.hpp"

#include <optional>

namespace peercoll {

class AllreduceSingleCopy {
public:
    AllreduceSingleCopy(HostTeam& team, const AllreduceArguments& arguments) : team_(&team), arguments_(arguments) {}
    Progress progress();
    static bool takes(const HostTeam& team) { return team.reader() != nullptr; }

private:
    enum class Stage : std::uint8_t { Arrive, Check, Agree, Reduce, Gather, Leave, Staged };
    void arrive();
    void check();
    bool anyone_refused() const;
    bool reduce_piece();
    Progress gather_next();
    Slice slice(int rank) const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    std::uint64_t base_ = 0;
    Chunks pieces_;
    std::uint64_t piece_ = 0;
    int gathered_ = 0;
    std::optional<AllreduceStaged> staged_;
    Stage stage_ = Stage::Arrive;
};

}  // namespace peercoll
