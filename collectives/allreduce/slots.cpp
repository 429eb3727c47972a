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
// destination is not read: of what a large message moves over the memory bus, that is a quarter. Then a piece of the
// next chunk is contributed after each piece folded, so that memory is read and written at the same time (16 MiB, 2
// ranks: 1.6 ms; chunk after chunk 2.0).
#include "collectives/allreduce/slots.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace peercoll {

namespace {
constexpr std::size_t piece_bytes = 1024;  // so short that one's reads and another's writes are under way together
}  // namespace

// Steps of n chunks: C(0) is 1, C(c) is 2c, and F(c), after chunk c was folded, is 2c+3, the last one 2n:
//   C0 C1 F0 C2 F1 ... C(n-1) F(n-2) F(n-1)
// That order is kept strictly, also where a rank could fold before it may contribute again. Streaming, C(c+1) and F(c)
// are one.
std::uint64_t AllreduceSlots::contributed_step(std::uint64_t chunk) const {
    return base_ + (chunk == 0 ? 1 : 2 * chunk);
}
std::uint64_t AllreduceSlots::folded_step(std::uint64_t chunk) const {
    return base_ + std::min(2 * chunk + 3, 2 * chunks_.size());
}

void AllreduceSlots::begin() {
    // Streaming, two chunks of each rank and of both sides are to stay in the second cache.
    chunks_ = StagingRing(*team_, arguments_.count, arguments_.element_bytes, 1, streams_ ? 1 : 2);
    base_ = team_->begin(2 * chunks_.size());
    begun_ = true;
}

bool AllreduceSlots::contribute() {
    if (!chunks_.is_free(contributed_)) return false;
    chunks_.free_at(contributed_, folded_step(contributed_));
    const Slice chunk = chunks_[contributed_];
    std::memcpy(chunks_.exchanged_at(team_->rank(), contributed_),
                arguments_.source + chunk.begin * arguments_.element_bytes, chunk.count() * arguments_.element_bytes);
    team_->publish(contributed_step(contributed_));
    ++contributed_;
    return true;
}

void AllreduceSlots::set_inputs() {
    const void** const inputs = team_->inputs();
    for (int rank = 0; rank < team_->size(); ++rank) inputs[rank] = chunks_.exchanged_at(rank, folded_);
    inputs[team_->rank()] = arguments_.source + chunks_[folded_].begin * arguments_.element_bytes;
}

void AllreduceSlots::fold() {
    const Slice chunk = chunks_[folded_];
    set_inputs();
    arguments_.plan->evaluate(arguments_.fold, arguments_.element_bytes,
                              arguments_.destination + chunk.begin * arguments_.element_bytes, team_->inputs(),
                              chunk.count());
    team_->publish(folded_step(folded_));
    ++folded_;
}

// Memory is read for the next chunk while it is written for this one.
void AllreduceSlots::fold_and_contribute() {
    alignas(cache_line) std::array<std::byte, piece_bytes> piece;
    const std::size_t element = arguments_.element_bytes;
    const std::size_t most = piece.size() / element;
    const Slice chunk = chunks_[folded_];
    const Slice next = contributed_ < chunks_.size() ? chunks_[contributed_] : Slice{};
    std::byte* const destination = arguments_.destination + chunk.begin * element;
    const std::byte* const source = arguments_.source + next.begin * element;
    std::byte* const cell = next.count() > 0 ? chunks_.exchanged_at(team_->rank(), contributed_) : nullptr;
    // The first piece ends where a line of the destination does, so that all others are whole lines.
    std::size_t now = most - reinterpret_cast<std::uintptr_t>(destination) % cache_line / element;
    set_inputs();
    const void** const inputs = team_->inputs();
    for (std::size_t done = 0; done < chunk.count(); done += now, now = most) {
        now = std::min(now, chunk.count() - done);
        arguments_.plan->evaluate(arguments_.fold, element, piece.data(), inputs, now);
        stream_piece(destination + done * element, piece.data(), now * element);
        if (done < next.count())
            copy_piece_of_many(cell + done * element, source + done * element,
                               std::min(now, next.count() - done) * element);
        for (int rank = 0; rank < team_->size(); ++rank)
            inputs[rank] = static_cast<const std::byte*>(inputs[rank]) + now * element;
    }
    stream_fence();
    team_->publish(folded_step(folded_));  // which says as well that the next chunk is there
    ++folded_;
    ++contributed_;
}

Progress AllreduceSlots::progress() {
    if (!begun_) begin();
    const std::uint64_t ahead = streams_ ? 0 : 1;
    while (contributed_ < chunks_.size() && contributed_ <= folded_ + ahead)
        if (!contribute()) return Progress::Pending;
    if (!team_->all_reached(contributed_step(folded_))) return Progress::Pending;
    if (!streams_) {
        fold();
    } else {
        if (contributed_ < chunks_.size()) {
            if (!chunks_.is_free(contributed_)) return Progress::Pending;
            chunks_.free_at(contributed_, folded_step(contributed_));
        }
        fold_and_contribute();
    }
    return folded_ < chunks_.size() ? Progress::Advanced : Progress::Done;
}

}  // namespace peercoll
