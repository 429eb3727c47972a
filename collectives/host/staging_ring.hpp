// SPDX-License-Identifier: BSD-3-Clause
// StagingRing: the chunks of one operation in the team's staging cells.
#pragma once

#include "collectives/host/chunks.hpp"
#include "collectives/host/host_team.hpp"

namespace peercoll {

class StagingRing {
public:
    StagingRing() = default;
    // `count` elements in chunks of a quarter of the cells, a half or all, of which 1/`shares` holds the message. What
    // does not fit into all goes in chunks of `quarters_of_many` quarters.
    StagingRing(HostTeam& team, std::size_t count, std::size_t element_bytes, std::size_t shares = 1,
                std::uint64_t quarters_of_many = 2)
        : team_(&team) {
        const std::size_t bytes = count * element_bytes * shares;
        const std::size_t quarter = team.quarter_bytes();
        // All at once if it fits, since a meeting costs more than what overlapping saves; else two chunks under way.
        const std::uint64_t quarters = bytes <= quarter       ? 1
                                       : bytes <= 2 * quarter ? 2
                                       : bytes <= 4 * quarter ? 4
                                                              : quarters_of_many;
        span_ = quarters * HostTeam::quarter;
        chunks_ = Chunks(count, element_bytes, quarters * quarter / shares);
        first_ = team.take_cells(chunks_.size(), span_);
    }
    std::uint64_t size() const { return chunks_.size(); }
    Slice operator[](std::uint64_t chunk) const { return chunks_[chunk]; }
    std::size_t bytes() const { return span_ * team_->cell_bytes(); }
    std::byte* at(int rank, std::uint64_t chunk) const { return team_->cell(rank, cell_of(chunk)); }
    // See HostTeam::exchanged_cell().
    std::byte* exchanged_at(int rank, std::uint64_t chunk) const { return team_->exchanged_cell(rank, cell_of(chunk)); }

    // Whether this rank may write the chunk: every reader of what was there is done.
    bool is_free(std::uint64_t chunk) { return team_->all_reached(team_->cells_free_at(cell_of(chunk), span_)); }
    // Says when every reader of the chunk will be done.
    void free_at(std::uint64_t chunk, std::uint64_t step) { team_->set_cells_free_at(cell_of(chunk), span_, step); }

private:
    // Two ranks go round the ring, since they change cells with each round. More of them use two places in turn: in an
    // allreduce nobody is two chunks ahead of the slowest, and four places took longer than two (16 ranks, 8 KiB: 6.1
    // us and 4.4).
    std::uint64_t cell_of(std::uint64_t chunk) const {
        return team_->size() == 2 ? first_ + chunk * span_ : (first_ + chunk * span_) & span_;
    }

    HostTeam* team_ = nullptr;
    Chunks chunks_;
    std::uint64_t span_ = 1;  // cells of a chunk
    std::uint64_t first_ = 0;
};

}  // namespace peercoll
