// SPDX-License-Identifier: BSD-3-Clause
// Staged: reduce-scatter and allgather through shared memory, in chunks.
//
// When: medium messages with three ranks or more, and large ones where single copy is not to be had.
//
//   chunk c, rank r owns slice r:
//     contribute   all slices but r   --copy--> cell r                       step C(c)
//     reduce       slice r of every cell + own source --> cell r, slice r    step R(c)     (then into destination)
//     gather       slice q of cell q, for all q != r  --> destination
//   chunk c+1 is contributed between reduce and gather of chunk c, so that the second meeting costs little waiting.
//   A slice is a cache line at least: of a short message some ranks own none, and nobody waits for those.
//
// Cost per rank: 2 n (p-1)/p bytes read from other cores, as many written, n/p folded over p inputs; two steps a chunk.
#include "collectives/allreduce/staged.hpp"

#include <cstring>

namespace peercoll {

void AllreduceStaged::begin() {
    chunks_ = StagingRing(*team_, arguments_.count, arguments_.element_bytes);
    base_ = team_->begin(2 * chunks_.size() + 1);
    // A line beside the one it needs is fetched by a processor as well: results are kept away from contributions where
    // there is room.
    if (chunks_[0].count() * arguments_.element_bytes <= chunks_.bytes() / 2) results_ = chunks_.bytes() / 2;
}

const Slices& AllreduceStaged::slices(std::uint64_t chunk) const {
    return team_->shares(chunks_[chunk].count(), arguments_.element_bytes);
}

bool AllreduceStaged::contribute(std::uint64_t chunk) {
    if (!chunks_.is_free(chunk)) return false;
    // A rank has gathered chunk c before it announces R(c+1), or the end.
    chunks_.free_at(chunk, base_ + std::min(2 * chunk + 4, 2 * chunks_.size() + 1));
    const std::size_t element = arguments_.element_bytes;
    std::byte* cell = chunks_.at(team_->rank(), chunk);
    const std::byte* source = arguments_.source + chunks_[chunk].begin * element;
    const Slice own = slices(chunk)[static_cast<std::size_t>(team_->rank())];
    std::memcpy(cell, source, own.begin * element);
    std::memcpy(cell + own.end * element, source + own.end * element, (chunks_[chunk].count() - own.end) * element);
    team_->publish(base_ + 2 * chunk + 1);
    return true;
}

bool AllreduceStaged::inputs_are_there() {
    return slices(chunk_)[static_cast<std::size_t>(team_->rank())].count() == 0 ||
           team_->all_reached(base_ + 2 * chunk_ + 1);
}

void AllreduceStaged::reduce() {
    const std::size_t element = arguments_.element_bytes;
    const Slice own = slices(chunk_)[static_cast<std::size_t>(team_->rank())];
    const std::size_t in_cell = own.begin * element;
    const std::size_t in_message = chunks_[chunk_].begin * element + in_cell;
    std::byte* result = chunks_.at(team_->rank(), chunk_) + results_ + in_cell;
    if (own.count() > 0) {
        const void** const inputs = team_->inputs();
        for (int rank = 0; rank < team_->size(); ++rank) inputs[rank] = chunks_.at(rank, chunk_) + in_cell;
        inputs[team_->rank()] = arguments_.source + in_message;
        arguments_.plan->evaluate(arguments_.fold, element, result, inputs, own.count());
    }
    team_->publish(base_ + 2 * chunk_ + 2);
    copy_result_(arguments_.destination + in_message, result, own.count() * element);
}

// Each peer's results as soon as they are there.
bool AllreduceStaged::gather() {
    const std::uint64_t reduced = base_ + 2 * chunk_ + 2;
    const std::size_t element = arguments_.element_bytes;
    std::byte* destination = arguments_.destination + chunks_[chunk_].begin * element;
    const Slices& parts = slices(chunk_);
    for (; cursor_ < team_->size(); ++cursor_) {
        const int peer = team_->further_on(cursor_);
        const Slice part = parts[static_cast<std::size_t>(peer)];
        if (part.count() == 0) continue;
        if (!team_->has_reached(peer, reduced)) return false;
        copy_result_(destination + part.begin * element, chunks_.at(peer, chunk_) + results_ + part.begin * element,
                     part.count() * element);
    }
    cursor_ = 1;
    // Whoever has a result has had everybody's contribution.
    team_->raise_floor(parts.has_empty() ? reduced - 1 : reduced);
    return true;
}

Progress AllreduceStaged::progress() {
    switch (stage_) {
        case Stage::Begin:
            begin();
            stage_ = Stage::Contribute;
            [[fallthrough]];
        case Stage::Contribute:
            if (!contribute(0)) return Progress::Pending;
            stage_ = Stage::Reduce;
            [[fallthrough]];
        case Stage::Reduce:
            if (!inputs_are_there()) return Progress::Pending;
            reduce();
            stage_ = Stage::ContributeNext;
            [[fallthrough]];
        case Stage::ContributeNext:
            if (chunk_ + 1 < chunks_.size() && !contribute(chunk_ + 1)) return Progress::Pending;
            stage_ = Stage::Gather;
            [[fallthrough]];
        case Stage::Gather:
            if (!gather()) return Progress::Pending;
            if (++chunk_ < chunks_.size()) {
                stage_ = Stage::Reduce;
                return Progress::Advanced;
            }
            break;
    }
    team_->publish(base_ + 2 * chunks_.size() + 1);
    return Progress::Done;
}

}  // namespace peercoll
