// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/execution.hpp"

namespace peercoll {

Progress Execution::begin() {
    position_ = node_->team->position().step;
    const bool meets = node_->devices == nullptr && !node_->devices_tried && !node_->devices_wanted &&
                       call_->kind == PEERCOLL_BROADCAST && meeting_is_due(*node_);
    if (!meets) return set_up_and_start();
    node_->team->publish(node_->team->begin(1) + 1);
    stage_ = Stage::Meeting;
    return Progress::Advanced;
}

Progress Execution::set_up_and_start() {
    if (node_->devices_wanted && !node_->devices_tried) {
        node_->devices_tried = true;
        status_ = (*set_up_)();
        if (!status_.ok()) return Progress::Failed;
    }
    position_ = node_->team->position().step;
    if (DeviceCall::concerns(*node_, *devices_, *call_))
        work_.emplace<DeviceCall>(*node_, *devices_, *call_, *set_up_);
    else
        work_.emplace<Operation>(*node_->team, node_->agreed, node_->trials, *call_);
    stage_ = Stage::Work;
    return Progress::Advanced;
}

Progress Execution::end() {
    if (const auto* operation = std::get_if<Operation>(&work_)) {
        algorithm_ = operation->algorithm();
    } else {
        const auto& call = std::get<DeviceCall>(work_);
        path_ = call.path();
        algorithm_ = call.algorithm();
        not_fused_because_ = call.not_fused_because();
        crossings_ = call.crossings();
        stood_by_ = call.stood_by();
    }
    if (call_->kind == PEERCOLL_ALLREDUCE && node_->devices == nullptr) hear_of_devices(*node_, position_);
    return Progress::Done;
}

Progress Execution::progress() {
    if (stage_ == Stage::Begin) return begin();
    if (stage_ == Stage::Meeting) {
        if (!node_->team->all_reached(position_ + 1)) return Progress::Pending;
        // What ranks have noted in the calls before is seen by all now.
        const std::uint64_t since = node_->team->header().devices_since.load(std::memory_order_acquire);
        if (since != 0 && since <= position_) node_->devices_wanted = true;
        return set_up_and_start();
    }
    if (auto* operation = std::get_if<Operation>(&work_)) {
        const Progress state = operation->progress();
        return state == Progress::Done ? end() : state;
    }
    auto& call = std::get<DeviceCall>(work_);
    const Progress state = call.progress();
    if (state == Progress::Failed) status_ = call.status();
    return state == Progress::Done ? end() : state;
}

}  // namespace peercoll
