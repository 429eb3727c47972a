// SPDX-License-Identifier: BSD-3-Clause
// Single copy: broadcast that copies straight from the root's buffer into the others', by both sides at once.
//
// When: large messages, where the node lets ranks reach each other's memory (proven for every pair at set-up). If any
// copy is refused after all (a buffer the system does not let through), all ranks learn it and take `staged`.
//
//   all     where my buffer is                                            step A
//   reader  [0, split) of the root's buffer --read--> mine                once the root has A
//   root    [split, n) of mine --write--> each reader's                   once that reader has A    (few ranks only)
//   all                                                                   step L, meet; after a refusal step K, meet,
//   then staged
//
// Cost: n bytes copied once for each reader; with p ranks the root takes 1/p of the copying, so that all are done
// together.
#include "collectives/broadcast/single_copy.hpp"

#include <algorithm>

namespace peercoll {

namespace {
constexpr int most_ranks_root_helps = 4;                     // above, its share is too small to be worth the traffic
constexpr std::size_t piece_bytes = std::size_t{512} << 10;  // so that a test of a started one returns soon
}  // namespace

void BroadcastSingleCopy::arrive() {
    base_ = team_->begin(3);
    RankArrival& mine = team_->arrival(team_->rank());
    mine.source.store(reinterpret_cast<std::uintptr_t>(arguments_.buffer), std::memory_order_relaxed);
    const auto size = static_cast<std::size_t>(team_->size());
    split_ = team_->size() > most_ranks_root_helps ? arguments_.bytes
                                                   : arguments_.bytes / size * (size - 1) / cache_line * cache_line;
    done_ = team_->rank() == arguments_.root ? split_ : 0;
    team_->publish(base_ + 1);
}

void BroadcastSingleCopy::refuse() {
    team_->arrival(team_->rank()).refused_step.store(base_ + 1, std::memory_order_relaxed);
    finish_copying();
}

void BroadcastSingleCopy::finish_copying() {
    team_->publish(base_ + 2);
    stage_ = Stage::Leave;
}

bool BroadcastSingleCopy::anyone_refused() const {
    for (int rank = 0; rank < team_->size(); ++rank)
        if (team_->arrival(rank).refused_step.load(std::memory_order_relaxed) == base_ + 1) return true;
    return false;
}

Progress BroadcastSingleCopy::read_piece() {
    if (!team_->has_reached(arguments_.root, base_ + 1)) return Progress::Pending;
    const std::size_t now = std::min(piece_bytes, split_ - done_);
    const std::uint64_t source = team_->arrival(arguments_.root).source.load(std::memory_order_relaxed);
    if (!team_->reader()->read(arguments_.root, source + done_, arguments_.buffer + done_, now)) {
        refuse();
        return Progress::Advanced;
    }
    done_ += now;
    if (done_ == split_) finish_copying();
    return Progress::Advanced;
}

Progress BroadcastSingleCopy::write_piece() {
    if (peer_ == arguments_.root) ++peer_;
    if (peer_ >= team_->size() || split_ == arguments_.bytes) {
        finish_copying();
        return Progress::Advanced;
    }
    if (!team_->has_reached(peer_, base_ + 1)) return Progress::Pending;
    const std::size_t now = std::min(piece_bytes, arguments_.bytes - done_);
    const std::uint64_t target = team_->arrival(peer_).source.load(std::memory_order_relaxed);
    if (!team_->reader()->write(peer_, target + done_, arguments_.buffer + done_, now)) {
        refuse();
        return Progress::Advanced;
    }
    done_ += now;
    if (done_ == arguments_.bytes) {
        done_ = split_;
        ++peer_;
    }
    return Progress::Advanced;
}

Progress BroadcastSingleCopy::progress() {
    switch (stage_) {
        case Stage::Arrive:
            arrive();
            stage_ = Stage::Copy;
            [[fallthrough]];
        case Stage::Copy:
            return team_->rank() == arguments_.root ? write_piece() : read_piece();
        case Stage::Leave:
            if (!team_->all_reached(base_ + 2)) return Progress::Pending;
            // A rank may go on to its next operation as soon as it knows; only a refusal must stay readable until all
            // know it.
            if (!anyone_refused()) {
                team_->publish(base_ + 3);
                return Progress::Done;
            }
            team_->publish(base_ + 3);
            stage_ = Stage::RefusalKnown;
            [[fallthrough]];
        case Stage::RefusalKnown:
            if (!team_->all_reached(base_ + 3)) return Progress::Pending;
            staged_.emplace(*team_, arguments_, BroadcastStaged::Shape::Flat, Stores::Cached);
            stage_ = Stage::Staged;
            [[fallthrough]];
        case Stage::Staged:
            return staged_->progress();
    }
    return Progress::Failed;
}

}  // namespace peercoll
