// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/allocations.hpp"

#include <atomic>
#include <iterator>

namespace peercoll::ascend {

namespace {
// Goes on after a close(), so that no number is used twice in a process.
std::atomic<std::uint64_t> last_id{0};
}  // namespace

void Allocations::add_ours(std::uint64_t base, std::uint64_t bytes, std::int32_t device) {
    const std::lock_guard lock(mutex_);
    Allocation made;
    made.base = base;
    made.bytes = bytes;
    made.id = ++last_id;
    made.device = device;
    made.ours = true;
    by_base_[base] = made;
}

Allocation Allocations::see(std::uint64_t base, std::uint64_t bytes, std::int32_t device, Allocation& gone) {
    const std::lock_guard lock(mutex_);
    Allocation& known = by_base_[base];
    if (known.id != 0 && known.bytes == bytes && known.device == device) return known;
    gone = known;
    known = {};
    known.base = base;
    known.bytes = bytes;
    known.id = ++last_id;
    known.device = device;
    return known;
}

bool Allocations::find_ours(std::uint64_t address, Allocation& found) const {
    const std::lock_guard lock(mutex_);
    const auto behind = by_base_.upper_bound(address);
    if (behind == by_base_.begin()) return false;
    const Allocation& one = std::prev(behind)->second;
    if (!one.ours || address - one.base >= one.bytes) return false;
    found = one;
    return true;
}

bool Allocations::find(std::uint64_t base, std::uint64_t id, Allocation& found) const {
    const std::lock_guard lock(mutex_);
    const auto one = by_base_.find(base);
    if (one == by_base_.end() || one->second.id != id) return false;
    found = one->second;
    return true;
}

bool Allocations::set_key(const Allocation& named) {
    const std::lock_guard lock(mutex_);
    const auto one = by_base_.find(named.base);
    if (one == by_base_.end() || one->second.id != named.id) return false;
    one->second = named;
    return true;
}

bool Allocations::remove(std::uint64_t base, Allocation& removed) {
    const std::lock_guard lock(mutex_);
    const auto one = by_base_.find(base);
    if (one == by_base_.end()) return false;
    removed = one->second;
    by_base_.erase(one);
    return true;
}

bool Allocations::remove_any(Allocation& removed) {
    const std::lock_guard lock(mutex_);
    if (by_base_.empty()) return false;
    removed = by_base_.begin()->second;
    by_base_.erase(by_base_.begin());
    return true;
}

}  // namespace peercoll::ascend
