// SPDX-License-Identifier: BSD-3-Clause
// Streams: queues of operations that a thread of their device executes, late and out of step with each other: each
// operation has a delay, and among the streams that could go on one is drawn, both from the node's seed.
#pragma once

#include "tests/simulated_devices/core/execution.hpp"
#include "tests/simulated_devices/core/node.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace peercoll::simulator {

enum class StreamKind {
    Legacy,       // waits for the context's Blocking streams, and they for it
    Blocking,     // ordered with Legacy
    NonBlocking,  // ordered with nothing
};

struct Operation {
    std::function<Result()> run;
    std::function<bool()> ready;  // empty: at once
    bool even_after_fault = false;
    bool on_host = false;  // a function of the application: the device goes on with other streams meanwhile
    bool beside = false;   // a kernel that stays: the same, on a thread of its own
    // Set by the scheduler.
    std::uint64_t sequence = 0;
    std::chrono::steady_clock::time_point earliest{};
};

class Stream {
public:
    Stream(std::shared_ptr<ExecutionContext> context, StreamKind kind) : context_(std::move(context)), kind_(kind) {}

    const std::shared_ptr<ExecutionContext>& context() const { return context_; }
    StreamKind kind() const { return kind_; }

private:
    friend class Scheduler;
    const std::shared_ptr<ExecutionContext> context_;
    const StreamKind kind_;
    std::deque<Operation> queue_;  // the first one may be running
    bool elsewhere_ = false;       // the first one is, or waits to be, run by another thread than the device's
    std::uint64_t submitted_ = 0;
    std::uint64_t completed_ = 0;
};

class Scheduler {
public:
    explicit Scheduler(const Node& node);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void submit(const std::shared_ptr<Stream>& stream, Operation operation);
    bool idle(const Stream& stream) const;
    // Until what has been submitted so far is done.
    void synchronize(const Stream& stream);
    void synchronize(const ExecutionContext& context);
    void synchronize_all();
    // Until `condition`, which operations make true.
    void wait_for(const std::function<bool()>& condition);

    // True on a thread that runs operations.
    static bool inside();
    // The threads end after what they are running now; waits for that up to `limit`. Nothing runs any more.
    void stop(std::chrono::milliseconds limit);

private:
    using Clock = std::chrono::steady_clock;
    struct Worker {
        std::vector<std::shared_ptr<Stream>> streams;  // with work
        std::mt19937_64 random;
        bool running = false;
    };

    void work(Worker& worker);
    // The application's functions, one after the other on a thread of their own.
    void work_for_host();
    // One kernel that stays.
    void work_beside(const std::shared_ptr<Stream>& stream);
    void run_first(std::unique_lock<std::mutex>& lock, Stream& stream, bool& running);
    std::shared_ptr<Stream> next(Worker& worker, Clock::time_point now, Clock::time_point& wake);
    bool in_turn(const Worker& worker, const Stream& stream) const;
    void finish(Worker& worker, const std::shared_ptr<Stream>& stream);
    void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& condition);

    const std::chrono::microseconds most_delay_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<int, std::unique_ptr<Worker>> workers_;  // by device
    std::deque<std::shared_ptr<Stream>> host_work_;
    bool host_started_ = false;
    bool host_running_ = false;
    int beside_ = 0;  // threads
    std::mt19937_64 random_;
    std::uint64_t sequence_ = 0;
    bool stopped_ = false;
};

}  // namespace peercoll::simulator
