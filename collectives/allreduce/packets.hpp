// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreducePackets {
public:
    AllreducePackets(HostTeam& team, const AllreduceArguments& arguments) : team_(&team), arguments_(arguments) {}
    Progress progress();
    static bool takes(std::size_t bytes) { return bytes <= packet_max_bytes; }

private:
    bool send();
    void fold();

    HostTeam* team_;
    AllreduceArguments arguments_;
    std::uint64_t step_ = 0;
    std::uint64_t first_ = 0;  // line
    int cursor_ = 0;
    bool begun_ = false;
    bool sent_ = false;
};

}  // namespace peercoll
