// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/streams.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace peercoll::simulator {

namespace {

thread_local bool inside_worker = false;

// How often what other processes change is looked at.
constexpr std::chrono::microseconds look_again{50};

}  // namespace

namespace {

// Processes get different seeds, or their streams would run in step; a fixed one is for looking into a failure.
std::uint64_t seed_of_process(const Node& node) {
    if (const char* fixed = std::getenv("PEERCOLL_SIMULATOR_SEED"); fixed != nullptr && *fixed != '\0') {
        return std::strtoull(fixed, nullptr, 10);
    }
    return node.seed + static_cast<std::uint64_t>(::getpid()) * 0x9e3779b97f4a7c15;
}

}  // namespace

Scheduler::Scheduler(const Node& node) : most_delay_(node.most_delay), random_(seed_of_process(node)) {}

bool Scheduler::inside() {
    return inside_worker;
}

void Scheduler::submit(const std::shared_ptr<Stream>& stream, Operation operation) {
    const std::lock_guard lock(mutex_);
    if (stopped_) {
        return;
    }
    operation.sequence = ++sequence_;
    operation.earliest = Clock::now();
    const auto most = static_cast<std::uint64_t>(most_delay_.count());
    if (most != 0 && random_() % 2 == 0) {
        operation.earliest += std::chrono::microseconds(random_() % (most + 1));
    }
    stream->queue_.push_back(std::move(operation));
    ++stream->submitted_;
    auto& worker = workers_[stream->context()->device];
    if (!worker) {
        worker = std::make_unique<Worker>();
        worker->random.seed(random_());
        std::thread(&Scheduler::work, this, std::ref(*worker)).detach();
    }
    if (std::find(worker->streams.begin(), worker->streams.end(), stream) == worker->streams.end()) {
        worker->streams.push_back(stream);
    }
    changed_.notify_all();
}

bool Scheduler::in_turn(const Worker& worker, const Stream& stream) const {
    if (stream.kind() == StreamKind::NonBlocking) {
        return true;
    }
    const std::uint64_t mine = stream.queue_.front().sequence;
    return std::none_of(worker.streams.begin(), worker.streams.end(), [&](const auto& other) {
        const bool ordered = stream.kind() == StreamKind::Legacy ? other->kind() == StreamKind::Blocking
                                                                 : other->kind() == StreamKind::Legacy;
        return ordered && other->context() == stream.context() && other->queue_.front().sequence < mine;
    });
}

std::shared_ptr<Stream> Scheduler::next(Worker& worker, Clock::time_point now, Clock::time_point& wake) {
    std::vector<std::shared_ptr<Stream>> candidates;
    for (const auto& stream : worker.streams) {
        const Operation& first = stream->queue_.front();
        if (stream->elsewhere_) {
            continue;
        }
        if (first.earliest > now) {
            wake = std::min(wake, first.earliest);
        } else if (in_turn(worker, *stream)) {
            if (!first.ready || stream->context()->failed() || first.ready()) {
                candidates.push_back(stream);
            } else {
                wake = std::min(wake, now + look_again);
            }
        }
    }
    return candidates.empty() ? nullptr : candidates[worker.random() % candidates.size()];
}

void Scheduler::finish(Worker& worker, const std::shared_ptr<Stream>& stream) {
    stream->queue_.pop_front();
    ++stream->completed_;
    if (stream->queue_.empty()) {
        std::erase(worker.streams, stream);
    }
}

void Scheduler::work(Worker& worker) {
    inside_worker = true;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
        const auto now = Clock::now();
        auto wake = now + std::chrono::seconds(1);
        const std::shared_ptr<Stream> stream = next(worker, now, wake);
        if (!stream) {
            if (worker.streams.empty()) {
                changed_.wait(lock);
            } else {
                changed_.wait_until(lock, wake);
            }
            continue;
        }
        if (stream->queue_.front().on_host) {
            stream->elsewhere_ = true;
            host_work_.push_back(stream);
            if (!host_started_) {
                host_started_ = true;
                std::thread(&Scheduler::work_for_host, this).detach();
            }
        } else if (stream->queue_.front().beside) {
            stream->elsewhere_ = true;
            ++beside_;
            std::thread(&Scheduler::work_beside, this, stream).detach();
        } else {
            run_first(lock, *stream, worker.running);
            finish(worker, stream);
        }
        changed_.notify_all();
    }
    changed_.notify_all();
}

void Scheduler::work_for_host() {
    inside_worker = true;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
        if (host_work_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const std::shared_ptr<Stream> stream = host_work_.front();
        host_work_.pop_front();
        run_first(lock, *stream, host_running_);
        stream->elsewhere_ = false;
        finish(*workers_[stream->context()->device], stream);
        changed_.notify_all();
    }
}

void Scheduler::work_beside(const std::shared_ptr<Stream>& stream) {
    inside_worker = true;
    std::unique_lock lock(mutex_);
    bool running = false;
    run_first(lock, *stream, running);
    stream->elsewhere_ = false;
    finish(*workers_[stream->context()->device], stream);
    --beside_;
    changed_.notify_all();
}

void Scheduler::run_first(std::unique_lock<std::mutex>& lock, Stream& stream, bool& running) {
    Operation& operation = stream.queue_.front();
    const bool skipped = stream.context()->failed() && !operation.even_after_fault;
    running = true;
    lock.unlock();
    if (!skipped) {
        const Result result = operation.run();
        if (result != Result::Ok) {
            stream.context()->fail(result);
        }
    }
    // What the operation holds, memory for example, is given back before it counts as done.
    operation.run = nullptr;
    operation.ready = nullptr;
    lock.lock();
    running = false;
}

bool Scheduler::idle(const Stream& stream) const {
    const std::lock_guard lock(mutex_);
    return stream.completed_ == stream.submitted_;
}

void Scheduler::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& condition) {
    while (!stopped_ && !condition()) {
        changed_.wait_for(lock, std::chrono::milliseconds(1));
    }
}

void Scheduler::synchronize(const Stream& stream) {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = stream.submitted_;
    wait(lock, [&] { return stream.completed_ >= until; });
}

void Scheduler::synchronize(const ExecutionContext& context) {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = sequence_;
    const auto worker = workers_.find(context.device);
    if (worker == workers_.end()) {
        return;
    }
    wait(lock, [&] {
        return std::none_of(worker->second->streams.begin(), worker->second->streams.end(), [&](const auto& stream) {
            return stream->context().get() == &context && stream->queue_.front().sequence <= until;
        });
    });
}

void Scheduler::synchronize_all() {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = sequence_;
    wait(lock, [&] {
        return std::all_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
            return std::none_of(worker.second->streams.begin(), worker.second->streams.end(),
                                [&](const auto& stream) { return stream->queue_.front().sequence <= until; });
        });
    });
}

void Scheduler::wait_for(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !condition()) {
        changed_.wait_for(lock, look_again);
    }
}

void Scheduler::stop(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, limit, [this] {
        return beside_ == 0 && std::none_of(workers_.begin(), workers_.end(),
                                            [](const auto& worker) { return worker.second->running; });
    });
}

}  // namespace peercoll::simulator
