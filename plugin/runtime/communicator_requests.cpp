// SPDX-License-Identifier: BSD-3-Clause
// Started requests: a queue, worked off in the order in which they were started, by whoever waits, tests or runs a
// blocking call.
#include "plugin/runtime/communicator.hpp"

namespace peercoll {

Status Communicator::start(Request& request) {
    if (Status status = ready(); !status.ok()) return status;
    request.status = Status{};
    if (request.call.bytes() == 0 || size() == 1) {
        request.status = run_alone(request.call);
        return {};
    }
    request.active.store(true, std::memory_order_relaxed);
    request.counted = true;
    ++requests;
    {
        const std::lock_guard lock(queue_mutex_);
        queue_.push_back(&request);
        progress_queue();
    }
    if (!listed_) context_.add_active(*this);
    listed_ = true;
    return {};
}

void Communicator::retire(Request& request) {
    if (!request.counted) return;
    request.counted = false;
    --requests;
    bool empty = false;
    {
        const std::lock_guard lock(queue_mutex_);
        empty = queue_.empty();
    }
    if (!empty || !listed_ || hosts_ != nullptr) return;
    context_.remove_active(*this);
    listed_ = false;
}

void Communicator::test(Request& request) {
    try_progress();
    context_.progress_active(this);
    constexpr std::uint32_t tests_between_clock_reads = 256;
    if (++tests_ % tests_between_clock_reads != 0 || !request.active.load(std::memory_order_acquire)) return;
    const auto now = std::chrono::steady_clock::now();
    if (tested_ != &request) {
        tested_ = &request;
        tested_since_ = now;
    }
    if (!on_check(now - tested_since_)) fail_queue();
}

void Communicator::fail_queue() {
    const std::lock_guard lock(queue_mutex_);
    while (!queue_.empty()) complete(*queue_.front(), give_up());
}

void Communicator::begin_head(const Call& call) {
    if (hosts_ != nullptr) {
        hosts_head_.emplace(*hosts_, node_, context_.devices(), call);
        return;
    }
    Execution::is_due(node_, context_.devices(), call);  // counts it, as for a blocking call
    head_.emplace(node_, context_.devices(), call, set_up_devices_);
}

Progress Communicator::progress_queue() {
    while (!queue_.empty()) {
        Request& request = *queue_.front();
        if (!head_ && !hosts_head_) begin_head(request.call);
        const Progress state = hosts_head_ ? hosts_head_->progress() : head_->progress();
        if (state == Progress::Advanced) return state;
        if (state == Progress::Pending || state == Progress::Resting) {
            if (node_.team->header().abort_code.load(std::memory_order_relaxed) == 0) return state;
        } else if (state == Progress::Done) {
            if (hosts_head_)
                count(request.call, *hosts_head_);
            else
                count(request.call, *head_);
            complete(request, {});
            continue;
        }
        const Status cause = hosts_head_ ? hosts_head_->status() : head_->status();
        complete(request, give_up(state == Progress::Failed ? cause : Status{}));
    }
    return Progress::Done;
}

void Communicator::complete(Request& request, Status status) {
    queue_.pop_front();
    head_.reset();
    hosts_head_.reset();
    request.status = std::move(status);
    request.active.store(false, std::memory_order_release);
}

void Communicator::try_progress() {
    const std::unique_lock lock(queue_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    progress_queue();
    if (hosts_ != nullptr && hosts_->speaks()) hosts_->link->progress();
}

Status Communicator::wait(Request& request) {
    const Progress state = waiter_ == nullptr ? Progress::Done : waiter_->wait([&] {
        if (!request.active.load(std::memory_order_acquire)) return Progress::Done;
        const std::unique_lock lock(queue_mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return Progress::Pending;
        const Progress moved = progress_queue();
        return request.active.load(std::memory_order_relaxed)
                   ? (moved == Progress::Advanced ? moved : Progress::Pending)
                   : Progress::Done;
    });
    if (state == Progress::Failed) fail_queue();
    return request.status;
}

}  // namespace peercoll
