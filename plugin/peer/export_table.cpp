// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/export_table.hpp"

#include <algorithm>

namespace peercoll {

namespace {

// The best first.
constexpr peercoll_handle_kind_t kinds[] = {PEERCOLL_HANDLE_IPC, PEERCOLL_HANDLE_FD, PEERCOLL_HANDLE_POOL_FD,
                                            PEERCOLL_HANDLE_FABRIC};

// A descriptor that comes with the handle is asked for again when somebody wants it, so that offers keep none open.
bool export_as(const peercoll_device_runtime_t& runtime, const peercoll_pointer_info_t& info,
               peercoll_handle_kind_t kind, peercoll_memory_handle_t& handle, OwnedDescriptor& descriptor) {
    int fd = -1;
    handle = {};
    if (runtime.export_memory(&info, kind, 0, &handle, &fd, nullptr) != PEERCOLL_SUCCESS) return false;
    descriptor = OwnedDescriptor(fd);
    return handle.kind == kind && handle.allocation_id == info.allocation_id;
}

peercoll_memory_handle_t export_any(const peercoll_device_runtime_t& runtime, const peercoll_pointer_info_t& info) {
    peercoll_memory_handle_t handle{};
    OwnedDescriptor descriptor;
    for (const peercoll_handle_kind_t kind : kinds)
        if ((info.handle_kinds & (1u << kind)) != 0 && export_as(runtime, info, kind, handle, descriptor))
            return handle;
    return {};
}

}  // namespace

ExportTable::ExportTable(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)), dead_(kept_deaths) {}

void ExportTable::offer(const peercoll_device_runtime_t& runtime, const peercoll_pointer_info_t& info,
                        peercoll_memory_handle_t& handle) {
    handle = {};
    if (info.allocation_id == everything || info.handle_kinds == 0 || info.bytes == 0) return;
    const std::lock_guard lock(mutex_);
    const Key key{&runtime, info.allocation_id};
    if (const auto found = index_.find(key); found != index_.end()) {
        offers_.splice(offers_.begin(), offers_, found->second);
        handle = found->second->handle;
        return;
    }
    while (offers_.size() >= capacity_) bury(std::prev(offers_.end()));
    // What could not be exported is kept, too, so that it is not tried again in every collective.
    offers_.push_front({&runtime, info, export_any(runtime, info)});
    index_.emplace(key, offers_.begin());
    handle = offers_.front().handle;
}

OwnedDescriptor ExportTable::descriptor(const peercoll_device_runtime_t& runtime, std::uint64_t allocation_id) {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find({&runtime, allocation_id});
    if (found == index_.end()) return {};
    const Offer& offer = *found->second;
    if (offer.handle.kind != PEERCOLL_HANDLE_FD && offer.handle.kind != PEERCOLL_HANDLE_POOL_FD) return {};
    if (runtime.is_live(offer.info.base, allocation_id) == 0) {
        bury(found->second);
        return {};
    }
    peercoll_memory_handle_t again{};
    OwnedDescriptor fd;
    if (!export_as(runtime, offer.info, offer.handle.kind, again, fd)) return {};
    return fd;
}

void ExportTable::bury(Offers::iterator offer) {
    // Nobody can have mapped what has no handle.
    if (offer->handle.kind != 0) dead_[deaths_++ % dead_.size()] = offer->info.allocation_id;
    index_.erase({offer->runtime, offer->info.allocation_id});
    offers_.erase(offer);
}

void ExportTable::recheck_next(std::size_t n) {
    auto next = index_.upper_bound(last_look_);
    for (; n > 0 && !index_.empty(); --n) {
        if (next == index_.end()) next = index_.begin();
        last_look_ = next->first;
        const auto offer = next->second;
        ++next;
        if (offer->runtime->is_live(offer->info.base, offer->info.allocation_id) == 0) bury(offer);
    }
}

void ExportTable::recheck() {
    const std::lock_guard lock(mutex_);
    recheck_next(std::min(offers_.size(), looks_per_recheck));
}

void ExportTable::recheck_all() {
    const std::lock_guard lock(mutex_);
    recheck_next(offers_.size());
}

std::uint64_t ExportTable::deaths() const {
    const std::lock_guard lock(mutex_);
    return deaths_;
}

std::size_t ExportTable::read_deaths(std::uint64_t& cursor, std::span<std::uint64_t> ids) const {
    const std::lock_guard lock(mutex_);
    if (ids.empty() || cursor >= deaths_) return 0;
    if (deaths_ - cursor > dead_.size()) {
        cursor = deaths_;
        ids[0] = everything;
        return 1;
    }
    std::size_t n = 0;
    while (n < ids.size() && cursor < deaths_) ids[n++] = dead_[cursor++ % dead_.size()];
    return n;
}

void ExportTable::close(const peercoll_device_runtime_t& runtime) {
    const std::lock_guard lock(mutex_);
    for (auto offer = offers_.begin(); offer != offers_.end();) {
        const auto here = offer++;
        if (here->runtime == &runtime) bury(here);
    }
}

std::size_t ExportTable::size() const {
    const std::lock_guard lock(mutex_);
    return offers_.size();
}

}  // namespace peercoll
