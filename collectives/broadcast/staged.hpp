// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/broadcast/arguments.hpp"
#include "collectives/host/chunks.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/stream_copy.hpp"
#include "collectives/task.hpp"

namespace peercoll {

class BroadcastStaged {
public:
    enum class Shape : std::uint8_t { Flat, Grouped };
    BroadcastStaged(HostTeam& team, const BroadcastArguments& arguments, Shape shape, Stores stores)
        : team_(&team), arguments_(arguments), shape_(shape), copy_result_(copy_by(stores)) {}
    Progress progress();

private:
    void begin();
    Progress write_chunk();
    Progress read_chunk();
    bool cell_is_free();
    std::uint64_t cell() const { return first_cell_ + chunk_ * span_; }
    int leader_of(std::size_t group) const;

    HostTeam* team_;
    BroadcastArguments arguments_;
    Shape shape_;
    CopyFunction copy_result_;
    Chunks chunks_;
    std::uint64_t base_ = 0;
    std::uint64_t first_cell_ = 0;
    std::uint64_t span_ = 1;  // cells of a chunk
    std::uint64_t chunk_ = 0;
    int from_ = -1;  // whose cells this rank reads; -1: none, it is the root
    bool relays_ = false;
    bool begun_ = false;
};

}  // namespace peercoll
