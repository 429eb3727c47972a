// SPDX-License-Identifier: BSD-3-Clause
// Slots: one-shot allreduce through shared memory. Every rank puts its whole message where all can read it, and every
// rank folds everybody's.
//
// When: small messages, where one meeting of the ranks costs more than the extra reading; any size with two ranks,
// where it reads no more than any other algorithm.
//
//   rank r:  source --copy--> cell r;  step;   all steps there?   fold(cell 0, cell 1, ..., own source, ...) -->
//   destination
//
// Longer messages go in chunks; a rank contributes chunk c+1 before it folds chunk c, so the meeting costs no waiting.
//
// Cost per rank: n bytes written, (p-1) n read from other cores, one clock step a chunk.
#include "collectives/allreduce/slots.hpp"

#include "collectives/host/input_list.hpp"

#include <cstring>

namespace peercoll {

void AllreduceSlots::begin() {
    chunks_ = Chunks(arguments_.count, arguments_.element_bytes, team_->cell_bytes());
    base_ = team_->begin(chunks_.size() + 1);
    first_cell_ = team_->take_cells(chunks_.size());
    begun_ = true;
}

bool AllreduceSlots::contribute() {
    std::uint64_t& free_at = team_->cell_free_at(first_cell_ + contributed_);
    if (!team_->all_reached(free_at, reuse_cursor_)) return false;
    reuse_cursor_ = 0;
    // A rank folds chunk c before it announces chunk c+2, or the end.
    free_at = base_ + std::min(contributed_ + 3, chunks_.size() + 1);
    const Slice chunk = chunks_[contributed_];
    std::memcpy(team_->cell(team_->rank(), first_cell_ + contributed_),
                arguments_.source + chunk.begin * arguments_.element_bytes, chunk.count() * arguments_.element_bytes);
    ++contributed_;
    team_->publish(base_ + contributed_);
    return true;
}

void AllreduceSlots::fold() {
    const Slice chunk = chunks_[folded_];
    const std::size_t offset = chunk.begin * arguments_.element_bytes;
    const auto size = static_cast<std::size_t>(team_->size());
    InputList inputs(size);
    for (std::size_t r = 0; r < size; ++r) inputs[r] = team_->cell(static_cast<int>(r), first_cell_ + folded_);
    inputs[static_cast<std::size_t>(team_->rank())] = arguments_.source + offset;
    arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes, arguments_.destination + offset, inputs.data(),
                              chunk.count());
    ++folded_;
}

Progress AllreduceSlots::progress() {
    if (!begun_) begin();
    const bool may_contribute = contributed_ < chunks_.size() && contributed_ <= folded_ + 1;
    if (may_contribute && contribute()) return Progress::Advanced;
    if (contributed_ <= folded_ || !team_->all_reached(base_ + folded_ + 1, data_cursor_)) return Progress::Pending;
    data_cursor_ = 0;
    fold();
    if (folded_ < chunks_.size()) return Progress::Advanced;
    team_->publish(base_ + chunks_.size() + 1);
    return Progress::Done;
}

}  // namespace peercoll
