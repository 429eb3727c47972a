// SPDX-License-Identifier: BSD-3-Clause
// Statistics: named counters of a context. Names are "<collective>.served", "<collective>.bytes",
// "<collective>.algorithm.<name>", "<collective>.passed_on.<reason>", "comm.created", "segment.bytes", "wait.yields"
// ... A counter exists from the first time that somebody asks for it by name, and until the Statistics end.
//
// Two ways to count:
//   shared(name)  any thread, with fetch_add. For what happens rarely.
//   local(name)   a cell that one communicator (so one thread at a time) owns for a while; counting is a plain add,
//   without
//                 a locked instruction, which would be felt in a collective of 70 ns. The counter's value is the sum of
//                 its cells.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace peercoll {

// What a counter's name may be made of between its dots: 1 to 40 of a-z, 0-9 and _. For words that come from a caller.
bool is_counter_word(std::string_view word);

class LocalCounter;

class Statistics {
public:
    // Fixed in memory until the Statistics end. Use relaxed operations.
    std::atomic<std::uint64_t>& shared(std::string_view name);

    // Must be gone before the Statistics are. Takes a lock: ask once, not in each collective.
    LocalCounter local(std::string_view name);

    struct Value {
        const char* name;  // lives as long as the Statistics
        std::uint64_t value;
    };
    std::size_t size() const;
    // Counters never change their index. `index` < size().
    Value at(std::size_t index) const;
    std::vector<Value> all() const;

private:
    friend class LocalCounter;

    // A cache line for each, because its owner may run on another processor than the next cell's.
    struct alignas(64) Cell {
        std::atomic<std::uint64_t> count{0};
    };
    struct Counter {
        std::string name;
        Cell shared;
        std::deque<Cell> cells;    // every cell there ever was; a returned one keeps its count and is lent again
        std::vector<Cell*> spare;  // those of `cells` that nobody owns

        std::uint64_t sum() const;
    };

    Counter& find_or_add(std::string_view name);  // with mutex_ held

    mutable std::mutex mutex_;  // guards everything but the counts
    std::deque<Counter> counters_;
    std::unordered_map<std::string_view, Counter*> by_name_;
};

class LocalCounter {
public:
    LocalCounter() = default;
    LocalCounter(LocalCounter&& other) noexcept { swap(other); }
    LocalCounter& operator=(LocalCounter&& other) noexcept {
        LocalCounter(std::move(other)).swap(*this);
        return *this;
    }
    LocalCounter(const LocalCounter&) = delete;
    LocalCounter& operator=(const LocalCounter&) = delete;
    ~LocalCounter();

    // Not on a default-made or moved-from counter.
    void add(std::uint64_t amount = 1) {
        std::atomic<std::uint64_t>& count = cell_->count;
        // One writer: others only read, so the two steps need not be one.
        count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }

private:
    friend class Statistics;
    LocalCounter(Statistics* owner, Statistics::Counter* counter, Statistics::Cell* cell)
        : owner_(owner), counter_(counter), cell_(cell) {}
    void swap(LocalCounter& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(counter_, other.counter_);
        std::swap(cell_, other.cell_);
    }

    Statistics* owner_ = nullptr;
    Statistics::Counter* counter_ = nullptr;
    Statistics::Cell* cell_ = nullptr;
};

// One line for people: "allreduce 1200 served (packets 1000, staged 200), 3 passed on (user_op 3); broadcast 0 served".
std::string statistics_summary(const std::vector<Statistics::Value>& values);

// A line for each counter, "allreduce.served 1200", sorted by name.
std::vector<std::string> statistics_lines(const std::vector<Statistics::Value>& values);

}  // namespace peercoll
