// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/broadcast/arguments.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/task.hpp"

#include <optional>

namespace peercoll {

class BroadcastSingleCopy {
public:
    BroadcastSingleCopy(HostTeam& team, const BroadcastArguments& arguments) : team_(&team), arguments_(arguments) {}
    Progress progress();
    static bool takes(const HostTeam& team) { return team.reader() != nullptr; }

private:
    enum class Stage : std::uint8_t { Arrive, Copy, Leave, RefusalKnown, Staged };
    void arrive();
    Progress read_piece();
    Progress write_piece();
    bool anyone_refused() const;
    void finish_copying();
    void refuse();

    HostTeam* team_;
    BroadcastArguments arguments_;
    std::uint64_t base_ = 0;
    std::size_t split_ = 0;  // readers copy [0, split), the root writes [split, bytes) into their buffers
    std::size_t done_ = 0;
    int peer_ = 0;
    std::optional<BroadcastStaged> staged_;
    Stage stage_ = Stage::Arrive;
};

}  // namespace peercoll
