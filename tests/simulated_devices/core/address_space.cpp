// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/address_space.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <iterator>
#include <system_error>

namespace peercoll::simulator {

namespace {

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// `alignment` is a power of two. Keeps nothing of what was there.
std::uint64_t forbidden_window(std::uint64_t bytes, std::uint64_t alignment) {
    void* window = ::mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "a window for device addresses");
    }
    ::madvise(window, bytes + alignment, MADV_DONTDUMP);
    return round_up(reinterpret_cast<std::uintptr_t>(window), alignment);
}

void forbid(void* address, std::uint64_t bytes) {
    ::mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

AddressRange::~AddressRange() {
    space_->give_back(base_, bytes_);
}

Mapping::~Mapping() {
    if (mapped_bytes != 0) {
        forbid(shadow, mapped_bytes);
        if (kind == MemoryKind::Managed) {
            forbid(pointer(base), mapped_bytes);
        }
    }
}

AddressSpace::AddressSpace() {
    constexpr std::uint64_t alignment = std::uint64_t{1} << 30;
    window_ = forbidden_window(window_bytes, alignment);
    shadow_ = forbidden_window(window_bytes, alignment);
    // Where addresses begin differs from process to process, also between forked ones.
    constexpr std::uint64_t large_page = std::uint64_t{2} << 20;
    const std::uint64_t unused = large_page * (1 + (unique_id() >> 32) % 16384);
    holes_.emplace(window_ + unused, window_bytes - unused);
}

std::shared_ptr<AddressRange> AddressSpace::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wish) {
    const std::lock_guard lock(mutex_);
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
        const std::uint64_t end = hole->first + hole->second;
        std::uint64_t base = round_up(hole->first, alignment);
        if (wish != 0) {
            if (wish < hole->first || wish >= end || wish % alignment != 0) {
                continue;
            }
            base = wish;
        }
        if (base < end && end - base >= bytes) {
            take(hole, base, bytes);
            return std::make_shared<AddressRange>(*this, base, bytes);
        }
    }
    return nullptr;
}

void AddressSpace::take(std::map<std::uint64_t, std::uint64_t>::iterator hole, std::uint64_t base,
                        std::uint64_t bytes) {
    const std::uint64_t begin = hole->first;
    const std::uint64_t end = begin + hole->second;
    holes_.erase(hole);
    if (base > begin) {
        holes_.emplace(begin, base - begin);
    }
    if (base + bytes < end) {
        holes_.emplace(base + bytes, end - base - bytes);
    }
}

void AddressSpace::give_back(std::uint64_t base, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    auto hole = holes_.emplace(base, bytes).first;
    const auto next = std::next(hole);
    if (next != holes_.end() && hole->first + hole->second == next->first) {
        hole->second += next->second;
        holes_.erase(next);
    }
    if (hole != holes_.begin()) {
        const auto before = std::prev(hole);
        if (before->first + before->second == hole->first) {
            before->second += hole->second;
            holes_.erase(hole);
        }
    }
}

bool AddressSpace::overlaps(std::uint64_t base, std::uint64_t bytes) const {
    auto next = mappings_.lower_bound(base);
    if (next != mappings_.end() && next->first < base + bytes) {
        return true;
    }
    return next != mappings_.begin() && std::prev(next)->second->end() > base;
}

bool AddressSpace::is_free(std::uint64_t base, std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    return !overlaps(base, bytes);
}

bool AddressSpace::map(const std::shared_ptr<Mapping>& mapping, std::uint64_t from) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t bytes = round_up(mapping->bytes, page_bytes);
    void* shadow = pointer(mapping->base - window_ + shadow_);
    if (!mapping->block->map_at(shadow, from, bytes, PROT_READ | PROT_WRITE)) {
        return false;
    }
    mapping->shadow = shadow;
    mapping->mapped_bytes = bytes;
    if (mapping->kind == MemoryKind::Managed &&
        !mapping->block->map_at(pointer(mapping->base), from, bytes, PROT_READ | PROT_WRITE)) {
        return false;
    }
    mapping->id = ++last_id_;
    mappings_[mapping->base] = mapping;
    return true;
}

bool AddressSpace::add_host(const std::shared_ptr<Mapping>& mapping) {
    const std::lock_guard lock(mutex_);
    if (overlaps(mapping->base, mapping->bytes)) {
        return false;
    }
    mapping->shadow = pointer(mapping->base);
    mapping->id = ++last_id_;
    mappings_[mapping->base] = mapping;
    return true;
}

void AddressSpace::remove(const std::shared_ptr<Mapping>& mapping) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find(mapping->base);
    if (found != mappings_.end() && found->second == mapping) {
        mappings_.erase(found);
    }
}

std::shared_ptr<Mapping> AddressSpace::find(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    auto next = mappings_.upper_bound(address);
    if (next == mappings_.begin()) {
        return nullptr;
    }
    const std::shared_ptr<Mapping>& mapping = std::prev(next)->second;
    return address < mapping->end() ? mapping : nullptr;
}

std::vector<std::shared_ptr<Mapping>> AddressSpace::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Mapping>> result;
    result.reserve(mappings_.size());
    for (const auto& [base, mapping] : mappings_) {
        result.push_back(mapping);
    }
    return result;
}

}  // namespace peercoll::simulator
