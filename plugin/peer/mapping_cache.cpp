// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/mapping_cache.hpp"

#include "plugin/peer/export_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::size_t most_refused = 1024;

bool kind_needs_descriptor(peercoll_handle_kind_t kind) {
    return kind == PEERCOLL_HANDLE_FD || kind == PEERCOLL_HANDLE_POOL_FD;
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

// It was written by another process.
Status check(const peercoll_memory_handle_t& handle) {
    if (handle.kind == 0) return {PEERCOLL_ERR_NOT_SUPPORTED, "the owner cannot share this device memory"};
    if (handle.kind > PEERCOLL_HANDLE_FABRIC || handle.allocation_id == 0 || handle.base == 0 || handle.bytes == 0 ||
        handle.base + handle.bytes < handle.base)
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                "a peer's handle of device memory names no allocation; expected a kind, an id, a base and a size"};
    return {};
}

}  // namespace

MappingCache::Use::Use(Use&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)), user_(other.user_), entries_(std::move(other.entries_)) {
    other.entries_.clear();
}

MappingCache::Use& MappingCache::Use::operator=(Use&& other) noexcept {
    if (this != &other) {
        end();
        cache_ = std::exchange(other.cache_, nullptr);
        user_ = other.user_;
        entries_ = std::move(other.entries_);
        other.entries_.clear();
    }
    return *this;
}

void MappingCache::Use::end() noexcept {
    if (cache_ != nullptr && !entries_.empty()) cache_->end_uses(entries_);
    entries_.clear();
}

MappingCache::MappingCache(std::uint64_t byte_limit)
    : byte_limit_(byte_limit), self_(ProcessIdentity::of_this_process()) {}

MappingCache::~MappingCache() {
    clear();
}

MappingCache::OwnerKey MappingCache::key_of(const ProcessIdentity& owner) {
    return {owner.boot_id, owner.pid_namespace, owner.start_time, owner.pid};
}

Status MappingCache::map(Use& use, const peercoll_device_runtime_t& runtime, std::int32_t device,
                         const ProcessIdentity& owner, const peercoll_memory_handle_t& handle, int fd,
                         std::uint64_t& address) {
    address = 0;
    if (Status status = check(handle); !status.ok()) return status;
    const Key key{key_of(owner), handle.allocation_id, &runtime, device};
    const std::lock_guard lock(mutex_);
    if (key.owner == key_of(self_)) return map_own(runtime, device, handle, address);
    if (const auto found = index_.find(key); found != index_.end()) {
        const Entries::iterator entry = found->second;
        if (entry->base == handle.base && entry->bytes == handle.bytes) {
            ++counters_.reused;
            hold(use, entry);
            address = entry->mapping.address;
            return {};
        }
        // Ids are never used again, so the owner has told something wrong, now or before.
        let_go(entry);
    }
    if (const auto found = refused_.find(key); found != refused_.end()) return found->second;
    if (kind_needs_descriptor(handle.kind) && fd < 0)
        return {PEERCOLL_ERR_BUSY, "the descriptor of a peer's device memory has not arrived"};
    make_room(handle.bytes);
    peercoll_mapping_t mapping{};
    Status status = import(key, handle, fd, mapping);
    // An old mapping that lies where the new one is, or that holds memory, may be in the way.
    if (!status.ok() && let_go_stale(key, handle)) status = import(key, handle, fd, mapping);
    if (!status.ok()) {
        ++counters_.refused;
        if (status.code() != PEERCOLL_ERR_OUT_OF_MEMORY && !in_use_over(key, handle)) {
            if (refused_.size() >= most_refused) refused_.clear();
            refused_.emplace(key, status);
        }
        return status;
    }
    entries_.push_front({key, handle.base, handle.bytes, mapping, {}, 0, false});
    index_.emplace(key, entries_.begin());
    ++counters_.mapped;
    ++counters_.entries;
    counters_.bytes += handle.bytes;
    hold(use, entries_.begin());
    address = mapping.address;
    return {};
}

Status MappingCache::map_own(const peercoll_device_runtime_t& runtime, std::int32_t device,
                             const peercoll_memory_handle_t& handle, std::uint64_t& address) {
    peercoll_pointer_info_t info{};
    runtime.classify(reinterpret_cast<const void*>(handle.base), &info);
    if (info.allocation_id != handle.allocation_id)
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "device memory of this process was freed before it was used"};
    const PeerAccess access{&runtime, device, info.device};
    if (info.device != device && !peer_access_.contains(access)) {
        peercoll_reason_t reason{};
        if (const peercoll_status_t code = runtime.enable_peer(device, info.device, &reason); code != PEERCOLL_SUCCESS)
            return {code, reason.text};
        peer_access_.insert(access);
    }
    address = handle.base;
    return {};
}

Status MappingCache::import(const Key& key, const peercoll_memory_handle_t& handle, int fd,
                            peercoll_mapping_t& mapping) {
    peercoll_reason_t reason{};
    mapping = {};
    if (const peercoll_status_t code = key.runtime->import_memory(key.device, &handle, fd, &mapping, &reason);
        code != PEERCOLL_SUCCESS)
        return {code, reason.text};
    if (mapping.address != 0 && mapping.bytes >= handle.bytes) return {};
    Status status(
        PEERCOLL_ERR_INVALID_ARGUMENT,
        fmt::format("a peer's allocation has {} bytes where its handle says {}", mapping.bytes, handle.bytes));
    key.runtime->release_mapping(&mapping);
    return status;
}

void MappingCache::hold(Use& use, Entries::iterator entry) {
    entries_.splice(entries_.begin(), entries_, entry);
    if (std::find(use.entries_.begin(), use.entries_.end(), entry) != use.entries_.end()) return;
    use.entries_.push_back(entry);
    entry->users.insert(use.user_);
    ++entry->uses;
}

void MappingCache::make_room(std::uint64_t bytes) {
    for (auto entry = entries_.end(); entry != entries_.begin() && counters_.bytes + bytes > byte_limit_;) {
        const auto here = std::prev(entry);
        if (here->uses == 0) {
            ++counters_.evicted;
            let_go(here);
        } else {
            entry = here;
        }
    }
}

bool MappingCache::let_go_stale(const Key& key, const peercoll_memory_handle_t& handle) {
    const auto let_go_if = [&](auto&& wanted) {
        bool any = false;
        for (auto entry = entries_.begin(); entry != entries_.end();) {
            const auto here = entry++;
            if (here->uses != 0 || here->key.owner != key.owner || here->key.runtime != key.runtime || !wanted(*here))
                continue;
            let_go(here);
            any = true;
        }
        return any;
    };
    return let_go_if([&](const Entry& one) { return overlap(one.base, one.bytes, handle.base, handle.bytes); }) ||
           let_go_if([](const Entry&) { return true; });
}

bool MappingCache::in_use_over(const Key& key, const peercoll_memory_handle_t& handle) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return one.uses != 0 && one.key.owner == key.owner && overlap(one.base, one.bytes, handle.base, handle.bytes);
    });
}

void MappingCache::let_go(Entries::iterator entry) {
    if (!entry->dead) index_.erase(entry->key);
    entry->dead = true;
    if (entry->uses == 0) unmap(entry);
}

void MappingCache::unmap(Entries::iterator entry) {
    entry->key.runtime->release_mapping(&entry->mapping);
    counters_.bytes -= entry->bytes;
    --counters_.entries;
    entries_.erase(entry);
}

void MappingCache::end_uses(const std::vector<Entries::iterator>& entries) {
    const std::lock_guard lock(mutex_);
    for (const Entries::iterator entry : entries)
        if (--entry->uses == 0 && entry->dead) unmap(entry);
    // Collectives that needed more than the limit at once have gone beyond it.
    make_room(0);
}

bool MappingCache::needs_descriptor(const peercoll_device_runtime_t& runtime, std::int32_t device,
                                    const ProcessIdentity& owner, const peercoll_memory_handle_t& handle) const {
    if (!kind_needs_descriptor(handle.kind)) return false;
    const Key key{key_of(owner), handle.allocation_id, &runtime, device};
    const std::lock_guard lock(mutex_);
    return key.owner != key_of(self_) && !index_.contains(key) && !refused_.contains(key);
}

void MappingCache::forget(const ProcessIdentity& owner, std::uint64_t allocation_id) {
    const OwnerKey whose = key_of(owner);
    const auto is_meant = [&](const Key& key) {
        return key.owner == whose && (allocation_id == ExportTable::everything || key.allocation_id == allocation_id);
    };
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto here = entry++;
        if (here->dead || !is_meant(here->key)) continue;
        ++counters_.forgotten;
        let_go(here);
    }
    std::erase_if(refused_, [&](const auto& refused) { return is_meant(refused.first); });
}

void MappingCache::leave(const void* user) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto here = entry++;
        if (here->users.erase(user) != 0 && here->users.empty()) let_go(here);
    }
}

void MappingCache::clear() {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto here = entry++;
        let_go(here);
    }
    for (const PeerAccess& access : peer_access_) access.runtime->disable_peer(access.device, access.peer, nullptr);
    peer_access_.clear();
    refused_.clear();
}

MappingCache::Counters MappingCache::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

}  // namespace peercoll
