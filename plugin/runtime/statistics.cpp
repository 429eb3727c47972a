// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/statistics.hpp"

#include <algorithm>

namespace peercoll {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

bool is_counter_word(std::string_view word) {
    constexpr std::size_t longest = 40;
    return !word.empty() && word.size() <= longest && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

std::uint64_t Statistics::Counter::sum() const {
    std::uint64_t total = shared.count.load(std::memory_order_relaxed);
    for (const Cell& cell : cells) total += cell.count.load(std::memory_order_relaxed);
    return total;
}

Statistics::Counter& Statistics::find_or_add(std::string_view name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
    Counter& counter = counters_.emplace_back();
    counter.name = name;
    by_name_.emplace(counter.name, &counter);
    return counter;
}

std::atomic<std::uint64_t>& Statistics::shared(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return find_or_add(name).shared.count;
}

LocalCounter Statistics::local(std::string_view name) {
    const std::lock_guard lock(mutex_);
    Counter& counter = find_or_add(name);
    if (counter.spare.empty()) {
        counter.spare.reserve(counter.cells.size() + 1);  // so that ~LocalCounter need not allocate
        return {this, &counter, &counter.cells.emplace_back()};
    }
    Cell* const cell = counter.spare.back();
    counter.spare.pop_back();
    return {this, &counter, cell};
}

LocalCounter::~LocalCounter() {
    if (cell_ == nullptr) return;
    const std::lock_guard lock(owner_->mutex_);
    counter_->spare.push_back(cell_);
}

std::size_t Statistics::size() const {
    const std::lock_guard lock(mutex_);
    return counters_.size();
}

Statistics::Value Statistics::at(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    const Counter& counter = counters_.at(index);
    return {counter.name.c_str(), counter.sum()};
}

std::vector<Statistics::Value> Statistics::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Value> values;
    values.reserve(counters_.size());
    for (const Counter& counter : counters_) values.push_back({counter.name.c_str(), counter.sum()});
    return values;
}

}  // namespace peercoll
