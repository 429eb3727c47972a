// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/allreduce/arguments.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/slices.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class AllreduceTwoShot {
public:
    AllreduceTwoShot(HostTeam& team, const AllreduceArguments& arguments) : team_(&team), arguments_(arguments) {}
    Progress progress();
    // Whether every rank's slice fits the lines that one rank has for another.
    static bool takes(const HostTeam& team, std::size_t count, std::size_t element_bytes);

private:
    enum class Stage : std::uint8_t { Begin, Send, Reduce, Gather };
    bool send();
    void reduce();
    Slice slice(int rank) const;
    std::size_t lines_of(int rank) const;
    bool has_come(const PacketLine* lines, std::size_t count) const;

    HostTeam* team_;
    AllreduceArguments arguments_;
    std::uint64_t step_ = 0;
    std::uint64_t parity_ = 0;
    std::size_t per_line_ = 1;  // elements
    int cursor_ = 0;
    Stage stage_ = Stage::Begin;
};

}  // namespace peercoll
