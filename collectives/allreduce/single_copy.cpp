// SPDX-License-Identifier: BSD-3-Clause
// Single copy: reduce-scatter and allgather that read straight from the other ranks' buffers.
//
// When: large messages, where the node lets a rank read its peers' memory (proven for every pair when the communicator
// was set up) and every buffer of this call can be reached (looked at here, agreed by all: otherwise all take
// `staged`).
//
//   arrive    where my buffers are                                            step A   meet
//   check     can I reach everybody's buffers?  (remembered for buffers seen lately)   step V   meet
//   reduce    my slice, a piece at a time: read it from every peer, fold --> destination   step R
//   gather    slice q from q's destination --> my destination, as soon as q has R
//   leave                                                                     step L   meet: nobody returns while he is
//   read
//
// Cost per rank: 2 n (p-1)/p bytes read, once each; a piece of all peers stays in the L2 cache between read and fold.
#include "collectives/allreduce/single_copy.hpp"

#include "collectives/reduction/input_list.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

namespace {
constexpr std::size_t scratch_bytes = std::size_t{256} << 10;  // what the pieces of all peers may take of the L2 cache
constexpr std::size_t least_piece = std::size_t{8} << 10;      // below this the system calls cost more than the copying
constexpr std::size_t most_piece = std::size_t{128} << 10;

std::size_t piece_bytes(int peers) {
    return std::clamp(scratch_bytes / static_cast<std::size_t>(peers), least_piece, most_piece);
}
std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
}  // namespace

void AllreduceSingleCopy::arrive() {
    base_ = team_->begin(4);
    RankArrival& mine = team_->arrival(team_->rank());
    mine.source.store(address_of(arguments_.source), std::memory_order_relaxed);
    mine.destination.store(address_of(arguments_.destination), std::memory_order_relaxed);
    team_->publish(base_ + 1);
}

void AllreduceSingleCopy::check() {
    bool reachable = true;
    for (int peer = 0; peer < team_->size() && reachable; ++peer) {
        if (peer == team_->rank()) continue;
        const RankArrival& theirs = team_->arrival(peer);
        const std::uint64_t source = theirs.source.load(std::memory_order_relaxed);
        const std::uint64_t destination = theirs.destination.load(std::memory_order_relaxed);
        reachable = team_->reader()->reachable(peer, source, arguments_.bytes()) &&
                    (destination == source || team_->reader()->reachable(peer, destination, arguments_.bytes()));
    }
    pieces_ = Chunks(slice(team_->rank()).count(), arguments_.element_bytes, piece_bytes(team_->size() - 1));
    // Asked for here, so that a lack of memory is a path decision of all and not an error in the middle.
    const std::size_t most = (pieces_.size() > 0 ? pieces_[0].count() : 0) * arguments_.element_bytes;
    if (team_->scratch(most * static_cast<std::size_t>(team_->size())) == nullptr) reachable = false;
    if (!reachable) team_->arrival(team_->rank()).refused_step.store(base_ + 1, std::memory_order_relaxed);
    team_->publish(base_ + 2);
}

bool AllreduceSingleCopy::anyone_refused() const {
    for (int rank = 0; rank < team_->size(); ++rank)
        if (team_->arrival(rank).refused_step.load(std::memory_order_relaxed) == base_ + 1) return true;
    return false;
}

Slice AllreduceSingleCopy::slice(int rank) const {
    return team_->shares(arguments_.count, arguments_.element_bytes)[static_cast<std::size_t>(rank)];
}

bool AllreduceSingleCopy::reduce_piece() {
    const std::size_t element = arguments_.element_bytes;
    const Slice piece = pieces_[piece_++];
    const std::size_t offset = (slice(team_->rank()).begin + piece.begin) * element;
    const std::size_t bytes = piece.count() * element;
    const auto size = static_cast<std::size_t>(team_->size());
    std::byte* scratch = team_->scratch(0);
    InputList inputs(size);
    inputs[static_cast<std::size_t>(team_->rank())] = arguments_.source + offset;
    for (int i = 1; i < team_->size(); ++i) {
        const int peer = team_->further_on(i);
        if (!team_->reader()->read(peer, team_->arrival(peer).source.load(std::memory_order_relaxed) + offset, scratch,
                                   bytes))
            return false;
        inputs[static_cast<std::size_t>(peer)] = scratch;
        scratch += pieces_[0].count() * element;
    }
    arguments_.plan->evaluate(arguments_.fold, element, arguments_.destination + offset, inputs.data(), piece.count());
    return true;
}

Progress AllreduceSingleCopy::gather_next() {
    const int peer = team_->further_on(1 + gathered_);
    if (!team_->has_reached(peer, base_ + 3)) return Progress::Pending;
    const Slice part = slice(peer);
    const std::size_t offset = part.begin * arguments_.element_bytes;
    const std::uint64_t theirs = team_->arrival(peer).destination.load(std::memory_order_relaxed);
    ++gathered_;
    if (part.count() > 0 && !team_->reader()->read(peer, theirs + offset, arguments_.destination + offset,
                                                   part.count() * arguments_.element_bytes))
        return Progress::Failed;
    return Progress::Advanced;
}

Progress AllreduceSingleCopy::progress() {
    switch (stage_) {
        case Stage::Arrive:
            arrive();
            stage_ = Stage::Check;
            [[fallthrough]];
        case Stage::Check:
            if (!team_->all_reached(base_ + 1)) return Progress::Pending;
            check();
            stage_ = Stage::Agree;
            [[fallthrough]];
        case Stage::Agree:
            if (!team_->all_reached(base_ + 2)) return Progress::Pending;
            if (anyone_refused()) {
                // The arrivals are not read again, so their step numbers just pass.
                team_->publish(base_ + 4);
                staged_.emplace(*team_, arguments_, Stores::Cached);
                stage_ = Stage::Staged;
                return Progress::Advanced;
            }
            stage_ = Stage::Reduce;
            [[fallthrough]];
        case Stage::Reduce:
            if (piece_ < pieces_.size()) return reduce_piece() ? Progress::Advanced : Progress::Failed;
            team_->publish(base_ + 3);
            stage_ = Stage::Gather;
            [[fallthrough]];
        case Stage::Gather:
            if (gathered_ < team_->size() - 1) return gather_next();
            team_->publish(base_ + 4);
            stage_ = Stage::Leave;
            [[fallthrough]];
        case Stage::Leave:
            return team_->all_reached(base_ + 4) ? Progress::Done : Progress::Pending;
        case Stage::Staged:
            return staged_->progress();
    }
    return Progress::Failed;
}

}  // namespace peercoll
