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
//
// Cost per rank: 2 n (p-1)/p bytes read from other cores, as many written, n/p folded over p inputs; two steps a chunk.
#include "collectives/allreduce/staged.hpp"

#include "collectives/host/input_list.hpp"

#include <cstring>

namespace peercoll {

void AllreduceStaged::begin() {
    chunks_ = StagingRing(*team_, arguments_.count, arguments_.element_bytes);
    base_ = team_->begin(2 * chunks_.size() + 1);
}

Slice AllreduceStaged::slice(std::uint64_t chunk, int rank) const {
    return slice_of(chunks_[chunk].count(), static_cast<std::size_t>(team_->size()), static_cast<std::size_t>(rank),
                    line_granule(arguments_.element_bytes));
}

bool AllreduceStaged::contribute(std::uint64_t chunk) {
    if (!chunks_.is_free(chunk)) return false;
    // A rank has gathered chunk c before it announces R(c+1), or the end.
    chunks_.free_at(chunk, base_ + std::min(2 * chunk + 4, 2 * chunks_.size() + 1));
    const std::size_t element = arguments_.element_bytes;
    std::byte* cell = chunks_.at(team_->rank(), chunk);
    const std::byte* source = arguments_.source + chunks_[chunk].begin * element;
    const Slice own = slice(chunk, team_->rank());
    std::memcpy(cell, source, own.begin * element);
    std::memcpy(cell + own.end * element, source + own.end * element, (chunks_[chunk].count() - own.end) * element);
    team_->publish(base_ + 2 * chunk + 1);
    return true;
}

void AllreduceStaged::reduce() {
    const std::size_t element = arguments_.element_bytes;
    const Slice own = slice(chunk_, team_->rank());
    const std::size_t in_cell = own.begin * element;
    const std::size_t in_message = chunks_[chunk_].begin * element + in_cell;
    const auto size = static_cast<std::size_t>(team_->size());
    std::byte* result = chunks_.at(team_->rank(), chunk_) + in_cell;
    if (own.count() > 0) {
        InputList inputs(size);
        for (std::size_t r = 0; r < size; ++r) inputs[r] = chunks_.at(static_cast<int>(r), chunk_) + in_cell;
        inputs[static_cast<std::size_t>(team_->rank())] = arguments_.source + in_message;
        arguments_.plan->evaluate(arguments_.fold, element, result, inputs.data(), own.count());
    }
    team_->publish(base_ + 2 * chunk_ + 2);
    copy_result_(arguments_.destination + in_message, result, own.count() * element);
}

void AllreduceStaged::gather() {
    const std::size_t element = arguments_.element_bytes;
    std::byte* destination = arguments_.destination + chunks_[chunk_].begin * element;
    for (int i = 1; i < team_->size(); ++i) {
        const int peer = (team_->rank() + i) % team_->size();  // everybody starts elsewhere
        const Slice part = slice(chunk_, peer);
        copy_result_(destination + part.begin * element, chunks_.at(peer, chunk_) + part.begin * element,
                     part.count() * element);
    }
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
            if (!team_->all_reached(base_ + 2 * chunk_ + 1)) return Progress::Pending;
            reduce();
            stage_ = Stage::ContributeNext;
            [[fallthrough]];
        case Stage::ContributeNext:
            if (chunk_ + 1 < chunks_.size() && !contribute(chunk_ + 1)) return Progress::Pending;
            stage_ = Stage::Gather;
            [[fallthrough]];
        case Stage::Gather:
            if (!team_->all_reached(base_ + 2 * chunk_ + 2)) return Progress::Pending;
            gather();
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
