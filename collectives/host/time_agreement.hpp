// SPDX-License-Identifier: BSD-3-Clause
// A task in which all ranks show each other how long their trials took, and so agree on the fastest candidate.
#pragma once

#include "collectives/candidates.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/task.hpp"

#include <array>
#include <cstdint>

namespace peercoll {

class TimeAgreement {
public:
    using Times = std::array<std::uint64_t, most_candidates>;  // nanoseconds
    // A candidate's time is that of its slowest rank. The first candidate stays unless another takes less than
    // `percent` of its time.
    TimeAgreement(HostTeam& team, const Times& mine, std::size_t candidates, std::uint64_t percent)
        : team_(&team), mine_(mine), candidates_(candidates), percent_(percent) {}
    Progress progress();
    // Once Done: the index of the fastest, the same on all ranks, and what counted for it.
    std::size_t fastest() const { return fastest_; }
    const Times& agreed() const { return agreed_; }

private:
    void read();

    HostTeam* team_;
    Times mine_;
    std::size_t candidates_;
    std::uint64_t percent_;
    Times agreed_{};
    std::size_t fastest_ = 0;
    std::uint64_t base_ = 0;
    bool begun_ = false;
    bool shown_ = false;
};

}  // namespace peercoll
