// SPDX-License-Identifier: BSD-3-Clause
// Events: how often one was recorded, and which record has completed. The counts lie in a shared page, so that an event
// can be opened by other processes.
#pragma once

#include "tests/simulated_devices/core/descriptor.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace peercoll::simulator {

class Event {
public:
    struct Counts {
        std::uint64_t magic;
        std::uint64_t id;
        std::atomic<std::uint64_t> recorded;
        std::atomic<std::uint64_t> completed;
        std::atomic<std::uint64_t> nanoseconds;  // of the last completion, on the steady clock
    };

    // Throws std::system_error where the machine refuses.
    Event();
    // Null: that file is no event with this id.
    static std::shared_ptr<Event> open(Descriptor file, std::uint64_t id);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    class Opening;
    Event(const Opening& opening, Descriptor file, Counts* counts);

    int descriptor() const { return file_.number(); }
    std::uint64_t id() const { return counts_->id; }

    // A new record; complete() with its number once all before it is done. An event that was never recorded is done.
    std::uint64_t record() { return counts_->recorded.fetch_add(1, std::memory_order_acq_rel) + 1; }
    void complete(std::uint64_t record);
    std::uint64_t last_record() const { return counts_->recorded.load(std::memory_order_acquire); }
    bool done(std::uint64_t record) const { return counts_->completed.load(std::memory_order_acquire) >= record; }
    bool done() const { return done(last_record()); }
    std::uint64_t nanoseconds() const { return counts_->nanoseconds.load(std::memory_order_acquire); }

private:
    Descriptor file_;
    Counts* counts_ = nullptr;
};

}  // namespace peercoll::simulator
