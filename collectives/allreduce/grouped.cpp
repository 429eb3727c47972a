// SPDX-License-Identifier: BSD-3-Clause
// Grouped: staged allreduce that reduces inside each hwloc group (shared cache, NUMA node, package) before it crosses.
//
// When: medium messages and larger on nodes with several groups of ranks. It evaluates the plan whose blocks are the
// groups.
//
//   chunk c; group g has m(g) members, each owns one of m(g) slices of it; each rank also owns one of p slices of it
//     contribute        source --copy--> cell                                           step C(c)
//     reduce in group   my group slice over my group's cells --> cell                   step G(c)    meets the group
//     only combine           my slice over one partial from each group --> results of cell   step R(c)    meets
//     everybody gather            everybody's results --> destination
//
// Cost per rank: n read inside the group; n (g-1)/p read from other groups to combine (staged: n (p-m)/p), n (p-m)/p to
// gather; three steps a chunk. A cell is half inputs and partials, half results, since partials are read until R(c).
#include "collectives/allreduce/grouped.hpp"

#include "collectives/reduction/input_list.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

void AllreduceGrouped::begin() {
    chunks_ = StagingRing(*team_, arguments_.count, arguments_.element_bytes, 2);
    base_ = team_->begin(3 * chunks_.size() + 1);
    const auto& group = team_->group_of(team_->rank());
    member_ = static_cast<std::size_t>(std::find(group.begin(), group.end(), team_->rank()) - group.begin());
}

Slice AllreduceGrouped::group_slice(std::size_t group, std::size_t member) const {
    return slice_of(chunks_[chunk_].count(), team_->groups()[group].size(), member,
                    line_granule(arguments_.element_bytes));
}

Slice AllreduceGrouped::slice(int rank) const {
    return team_->shares(chunks_[chunk_].count(), arguments_.element_bytes)[static_cast<std::size_t>(rank)];
}

std::byte* AllreduceGrouped::results(int rank) const {
    return chunks_.at(rank, chunk_) + chunks_.bytes() / 2;
}

bool AllreduceGrouped::contribute(std::uint64_t chunk) {
    if (!chunks_.is_free(chunk)) return false;
    // A rank has gathered chunk c before it announces G(c+1), or the end.
    chunks_.free_at(chunk, base_ + std::min(3 * chunk + 5, 3 * chunks_.size() + 1));
    std::memcpy(chunks_.at(team_->rank(), chunk), arguments_.source + chunks_[chunk].begin * arguments_.element_bytes,
                chunks_[chunk].count() * arguments_.element_bytes);
    team_->publish(base_ + 3 * chunk + 1);
    return true;
}

void AllreduceGrouped::reduce_in_group() {
    const auto& group = team_->group_of(team_->rank());
    const Slice own = group_slice(team_->group_index(team_->rank()), member_);
    const std::size_t offset = own.begin * arguments_.element_bytes;
    InputList inputs(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) inputs[i] = chunks_.at(group[i], chunk_) + offset;
    if (own.count() > 0)
        arguments_.fold(chunks_.at(team_->rank(), chunk_) + offset, inputs.data(), group.size(), own.count());
    team_->publish(base_ + 3 * chunk_ + 2);
}

void AllreduceGrouped::combine() {
    const std::size_t element = arguments_.element_bytes;
    const Slice own = slice(team_->rank());
    const auto& groups = team_->groups();
    InputList inputs(groups.size());
    std::vector<std::size_t> owner(groups.size(), 0);  // the member of each group that holds the partial at `at`
    for (std::size_t at = own.begin; at < own.end;) {
        std::size_t end = own.end;  // of the longest piece that one member of each group holds
        for (std::size_t g = 0; g < groups.size(); ++g) {
            while (group_slice(g, owner[g]).end <= at) ++owner[g];
            end = std::min(end, group_slice(g, owner[g]).end);
            inputs[g] = chunks_.at(groups[g][owner[g]], chunk_) + at * element;
        }
        arguments_.fold(results(team_->rank()) + at * element, inputs.data(), groups.size(), end - at);
        at = end;
    }
    team_->publish(base_ + 3 * chunk_ + 3);
}

void AllreduceGrouped::gather() {
    const std::size_t element = arguments_.element_bytes;
    std::byte* destination = arguments_.destination + chunks_[chunk_].begin * element;
    for (int i = 0; i < team_->size(); ++i) {
        const int peer = team_->further_on(i);
        const Slice part = slice(peer);
        copy_result_(destination + part.begin * element, results(peer) + part.begin * element, part.count() * element);
    }
}

Progress AllreduceGrouped::progress() {
    switch (stage_) {
        case Stage::Begin:
            begin();
            stage_ = Stage::Contribute;
            [[fallthrough]];
        case Stage::Contribute:
            if (!contribute(0)) return Progress::Pending;
            stage_ = Stage::ReduceInGroup;
            [[fallthrough]];
        case Stage::ReduceInGroup:
            if (!team_->have_reached(team_->group_of(team_->rank()), base_ + 3 * chunk_ + 1)) return Progress::Pending;
            reduce_in_group();
            stage_ = Stage::Combine;
            [[fallthrough]];
        case Stage::Combine:
            if (!team_->all_reached(base_ + 3 * chunk_ + 2)) return Progress::Pending;
            combine();
            stage_ = Stage::ContributeNext;
            [[fallthrough]];
        case Stage::ContributeNext:
            if (chunk_ + 1 < chunks_.size() && !contribute(chunk_ + 1)) return Progress::Pending;
            stage_ = Stage::Gather;
            [[fallthrough]];
        case Stage::Gather:
            if (!team_->all_reached(base_ + 3 * chunk_ + 3)) return Progress::Pending;
            gather();
            if (++chunk_ < chunks_.size()) {
                stage_ = Stage::ReduceInGroup;
                return Progress::Advanced;
            }
            break;
    }
    team_->publish(base_ + 3 * chunks_.size() + 1);
    return Progress::Done;
}

}  // namespace peercoll
