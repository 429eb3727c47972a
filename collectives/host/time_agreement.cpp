// SPDX-License-Identifier: BSD-3-Clause
// Steps: 1, all have left what came before, so nobody reads old times any more; 2, my times are there; 3, I have read
// all.
#include "collectives/host/time_agreement.hpp"

#include <algorithm>

namespace peercoll {

void TimeAgreement::read() {
    for (std::size_t candidate = 0; candidate < candidates_; ++candidate) {
        std::uint64_t time = mine_[candidate];
        for (int rank = 0; rank < team_->size(); ++rank) {
            const std::uint64_t theirs = team_->arrival(rank).trial_time[candidate].load(std::memory_order_relaxed);
            time = std::max(time, theirs);
        }
        agreed_[candidate] = time;
    }
    for (std::size_t candidate = 1; candidate < candidates_; ++candidate) {
        const std::uint64_t limit = fastest_ == 0 ? agreed_[0] / 100 * percent_ : agreed_[fastest_];
        if (agreed_[candidate] < limit) fastest_ = candidate;
    }
}

Progress TimeAgreement::progress() {
    if (!begun_) {
        base_ = team_->begin(3);
        team_->publish(base_ + 1);
        begun_ = true;
    }
    if (!shown_) {
        if (!team_->all_reached(base_ + 1)) return Progress::Pending;
        for (std::size_t candidate = 0; candidate < candidates_; ++candidate)
            team_->arrival(team_->rank()).trial_time[candidate].store(mine_[candidate], std::memory_order_relaxed);
        team_->publish(base_ + 2);
        shown_ = true;
    }
    if (!team_->all_reached(base_ + 2)) return Progress::Pending;
    read();
    team_->publish(base_ + 3);
    return Progress::Done;
}

}  // namespace peercoll
