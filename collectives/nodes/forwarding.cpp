// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/forwarding.hpp"

namespace peercoll {

bool NodeForwarding::start(bool& moved) {
    const MessageName name{sequence_, 0};
    while (!is_root() && awaited_ < own_ && receives_.size() < most_under_way) {
        NodeLink::Ticket ticket = nullptr;
        const Slice slice = this->slice(awaited_);
        if (!link_->receive(tree_.parent, name, buffer_ + slice.begin, slice.count(), ticket)) return false;
        receives_.push_back({tree_.parent, ticket});
        ++awaited_;
        moved = true;
    }
    while (forwarded_ < available_ && sends_.size() < most_under_way * tree_.children.size()) {
        const Slice slice = this->slice(forwarded_);
        for (const int child : tree_.children) {
            NodeLink::Ticket ticket = nullptr;
            if (!link_->send(child, name, buffer_ + slice.begin, slice.count(), ticket)) return false;
            if (ticket != nullptr) sends_.push_back({child, ticket});
        }
        ++forwarded_;
        moved = true;
    }
    return true;
}

bool NodeForwarding::take_ended(bool& moved) {
    const auto ended = [&](Outstanding& one, bool& failed) {
        if (one.ticket == nullptr) return true;
        const Progress state = link_->test(one.ticket);
        failed |= state == Progress::Failed;
        return state != Progress::Pending;
    };
    bool failed = false;
    // In order: a chunk is there when it and all before it are.
    while (!receives_.empty() && ended(receives_.front(), failed)) {
        receives_.pop_front();
        if (failed) return false;
        ++available_;
        moved = true;
    }
    while (!sends_.empty() && ended(sends_.front(), failed)) {
        sends_.pop_front();
        if (failed) return false;
        moved = true;
    }
    return true;
}

Progress NodeForwarding::progress() {
    bool moved = false;
    if (!start(moved) || !take_ended(moved) || !start(moved)) return Progress::Failed;
    const bool all_sent = tree_.children.empty() || forwarded_ == own_;
    if (available_ == own_ && all_sent && sends_.empty() && receives_.empty()) return Progress::Done;
    if (!receives_.empty() || !sends_.empty()) moved |= link_->progress();
    return moved ? Progress::Advanced : Progress::Pending;
}

void NodeForwarding::abandon() noexcept {
    for (Outstanding& one : receives_)
        if (one.ticket != nullptr) link_->abandon(one.node, one.ticket);
    for (Outstanding& one : sends_) link_->abandon(one.node, one.ticket);
    receives_.clear();
    sends_.clear();
}

}  // namespace peercoll
