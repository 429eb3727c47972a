// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/broadcast/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class BroadcastPackets {
public:
    BroadcastPackets(HostTeam& team, const BroadcastArguments& arguments) : team_(&team), arguments_(arguments) {}
    Progress progress();
    static bool takes(std::size_t bytes) { return bytes <= packet_max_bytes; }

private:
    Progress send();
    Progress receive();

    HostTeam* team_;
    BroadcastArguments arguments_;
    std::uint64_t step_ = 0;
    std::uint64_t first_ = 0;  // line
    bool begun_ = false;
    bool waited_ = false;
};

}  // namespace peercoll
