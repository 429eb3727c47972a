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
// Cost per rank: n bytes written, (p-1) n read from other cores, one clock step a chunk. With streaming stores a piece
// of the result is folded where it stays in the first cache and goes from there straight to memory, so that the
// destination is not read: of what a large message moves over the memory bus, that is a quarter.
#include "collectives/allreduce/slots.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace peercoll {

// Steps: C(0) is 1, C(c) is 2c, and F(c), after chunk c was folded, is 2c+3: C0 C1 F0 C2 F1 C3 F2 ... That order is
// kept strictly, also where a rank could fold before it may contribute again.
namespace {
constexpr std::size_t piece_bytes = 8192;  // of the first cache, with as much of each input

std::uint64_t contributed_step(std::uint64_t chunk) {
    return chunk == 0 ? 1 : 2 * chunk;
}
std::uint64_t folded_step(std::uint64_t chunk) {
    return 2 * chunk + 3;
}
}  // namespace

void AllreduceSlots::begin() {
    chunks_ = StagingRing(*team_, arguments_.count, arguments_.element_bytes);
    base_ = team_->begin(folded_step(chunks_.size() - 1));
    begun_ = true;
}

bool AllreduceSlots::contribute() {
    if (!chunks_.is_free(contributed_)) return false;
    chunks_.free_at(contributed_, base_ + folded_step(contributed_));
    const Slice chunk = chunks_[contributed_];
    std::memcpy(chunks_.exchanged_at(team_->rank(), contributed_),
                arguments_.source + chunk.begin * arguments_.element_bytes, chunk.count() * arguments_.element_bytes);
    team_->publish(base_ + contributed_step(contributed_));
    ++contributed_;
    return true;
}

void AllreduceSlots::fold() {
    const Slice chunk = chunks_[folded_];
    const std::size_t offset = chunk.begin * arguments_.element_bytes;
    const void** const inputs = team_->inputs();
    for (int rank = 0; rank < team_->size(); ++rank) inputs[rank] = chunks_.exchanged_at(rank, folded_);
    inputs[team_->rank()] = arguments_.source + offset;
    if (streams_)
        fold_past_caches(arguments_.destination + offset, inputs, chunk.count());
    else
        arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes, arguments_.destination + offset, inputs,
                                  chunk.count());
    team_->publish(base_ + folded_step(folded_));
    ++folded_;
}

void AllreduceSlots::fold_past_caches(std::byte* destination, const void** inputs, std::size_t count) const {
    alignas(cache_line) std::array<std::byte, piece_bytes> piece;
    const std::size_t element = arguments_.element_bytes;
    const std::size_t most = piece.size() / element;
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t now = std::min(most, count - done);
        arguments_.plan->evaluate(arguments_.fold, element, piece.data(), inputs, now);
        stream_copy(destination + done * element, piece.data(), now * element);
        for (int rank = 0; rank < team_->size(); ++rank)
            inputs[rank] = static_cast<const std::byte*>(inputs[rank]) + now * element;
    }
}

Progress AllreduceSlots::progress() {
    if (!begun_) begin();
    while (contributed_ < chunks_.size() && contributed_ <= folded_ + 1)
        if (!contribute()) return Progress::Pending;
    if (!team_->all_reached(base_ + contributed_step(folded_))) return Progress::Pending;
    fold();
    return folded_ < chunks_.size() ? Progress::Advanced : Progress::Done;
}

}  // namespace peercoll
