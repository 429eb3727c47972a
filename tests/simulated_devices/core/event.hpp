// SPDX-License-Identifier: BSD-3-Clause
// Events: how often one was recorded, and which record has completed. The counts lie in a shared page, so that an event
// can be opened by other processes.
#pragma once

#include "tests/simulated_devices/core/descriptor.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

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

    // One record of the event. Of this process's own, it is known whether it is done; of another's, whether it or a
    // later one is.
    struct Record {
        std::uint64_t number = 0;
        std::shared_ptr<std::atomic<bool>> done;  // null: another process's
    };
    // A new record; complete() it once all before it is done. An event that was never recorded is done.
    Record record();
    void complete(const Record& record);
    Record last_record() const;
    bool done(const Record& record) const;
    bool done() const { return done(last_record()); }
    std::uint64_t nanoseconds() const { return counts_->nanoseconds.load(std::memory_order_acquire); }

private:
    Descriptor file_;
    Counts* counts_ = nullptr;
    mutable std::mutex mutex_;
    Record last_own_;
};

}  // namespace peercoll::simulator
