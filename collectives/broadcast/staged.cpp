// SPDX-License-Identifier: BSD-3-Clause
// Staged: broadcast through shared memory, in a pipeline of chunks; flat, or by hwloc group.
//
// When: medium messages, and large ones where single copy is not to be had. Grouped: nodes with several groups of
// ranks, so that each chunk crosses between groups once.
//
//   flat      root: source --copy--> cell c, step c        others: cell c --copy--> buffer, step c
//   grouped   the same to the root's own group and one leader of every other group; a leader copies the chunk on into
//             its own cell, steps, and its group reads it there
//
// Cost: n bytes written by the root (and by each leader), n read by each rank; root and readers work at the same time.
// Chunks are at most 32 KiB, so that the first arrives soon; a quarter of the cells where ranks share processors,
// because then a ring that is full costs a change of process. A message of up to 8 KiB takes a single cell, so that the
// root may be sixteen of them ahead and seldom has to look at the readers' clocks.
#include "collectives/broadcast/staged.hpp"

#include <cstring>

namespace peercoll {

namespace {
constexpr std::size_t most_chunk = std::size_t{32} << 10;
constexpr std::size_t most_in_a_cell = std::size_t{8} << 10;
}  // namespace

int BroadcastStaged::leader_of(std::size_t group) const {
    return group == team_->group_index(arguments_.root) ? arguments_.root : team_->groups()[group].front();
}

void BroadcastStaged::begin() {
    const std::size_t quarter = team_->quarter_bytes();
    chunks_ = Chunks(arguments_.bytes, 1, team_->crowded() ? quarter : std::min(quarter, most_chunk));
    base_ = team_->begin(chunks_.size());
    if (arguments_.bytes > std::min(most_in_a_cell, team_->cell_bytes())) span_ = HostTeam::quarter;
    first_cell_ = team_->take_cells(chunks_.size(), span_);
    if (team_->rank() != arguments_.root) {
        const int leader = leader_of(team_->group_index(team_->rank()));
        relays_ = shape_ == Shape::Grouped && leader == team_->rank() && team_->group_of(leader).size() > 1;
        from_ = shape_ == Shape::Flat || leader == team_->rank() ? arguments_.root : leader;
    }
    begun_ = true;
}

bool BroadcastStaged::cell_is_free() {
    if (!team_->all_reached(team_->cells_free_at(cell(), span_))) return false;
    team_->set_cells_free_at(cell(), span_, base_ + chunk_ + 1);
    return true;
}

Progress BroadcastStaged::write_chunk() {
    if (!cell_is_free()) return Progress::Pending;
    const Slice chunk = chunks_[chunk_];
    std::memcpy(team_->cell(team_->rank(), cell()), arguments_.buffer + chunk.begin, chunk.count());
    team_->publish(base_ + ++chunk_);
    return Progress::Advanced;
}

Progress BroadcastStaged::read_chunk() {
    if (!team_->has_reached(from_, base_ + chunk_ + 1)) return Progress::Pending;
    if (relays_ && !cell_is_free()) return Progress::Pending;
    const Slice chunk = chunks_[chunk_];
    const std::byte* data = team_->cell(from_, cell());
    if (relays_) {
        std::byte* own = team_->cell(team_->rank(), cell());
        std::memcpy(own, data, chunk.count());
        data = own;
        team_->publish(base_ + chunk_ + 1);
    }
    copy_result_(arguments_.buffer + chunk.begin, data, chunk.count());
    ++chunk_;
    if (!relays_) team_->publish(base_ + chunk_);
    return Progress::Advanced;
}

Progress BroadcastStaged::progress() {
    if (!begun_) begin();
    const Progress state = from_ < 0 ? write_chunk() : read_chunk();
    return chunk_ == chunks_.size() ? Progress::Done : state;
}

}  // namespace peercoll
