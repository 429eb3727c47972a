// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/device_team.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {
// Beyond, allocations count as never seen; settling one again costs a fraction of a microsecond.
constexpr std::size_t most_settled = 4096;
// Few enough to be looked through faster than they would be looked up.
constexpr std::size_t most_mapped_per_rank = 16;
}  // namespace

DeviceTeam::DeviceTeam(Parts parts)
    : parts_(std::move(parts)),
      segment_(DeviceSegment::at(parts_.segment, static_cast<std::size_t>(size()))),
      segment_bytes_(DeviceSegment::bytes(static_cast<std::size_t>(size()))),
      deaths_told_(parts_.process.exports->deaths()) {
    mapped_.resize(static_cast<std::size_t>(size()));
    cool();
    segment_.executor(rank()).wanted_rank.store(-1, std::memory_order_relaxed);
}

DeviceTeam::~DeviceTeam() {
    use_.end();
    parts_.process.mappings->leave(this);
    for (const Registered& one : registered_)
        if (one.registered) one.runtime->unregister_host(one.device, one.memory);
    for (const Mirror& one : mirrors_) one.runtime->free_memory(one.device, one.address);
}

Status DeviceTeam::describe(const ClassifiedMemory& memory, const void* address, std::size_t bytes, Buffer& buffer,
                            bool& new_device) {
    buffer = Buffer{};
    BufferFact& fact = buffer.fact;
    if (!memory.on_device()) {
        if (memory.pinned()) fact.kind = BufferFact::Pinned;
        return {};
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const peercoll_pointer_info_t& info = memory.info;
    const bool inside = begin >= info.base && bytes <= info.bytes && begin - info.base <= info.bytes - bytes;
    const auto known = std::find_if(described_.begin(), described_.end(), [&](const Described& one) {
        return info.allocation_id != 0 && one.allocation_id == info.allocation_id && one.runtime == memory.runtime;
    });
    if (known != described_.end() && inside) {
        known->used = ++descriptions_;
        fact = {BufferFact::Shareable, known->device, known->allocation_id, begin - known->handle.base};
        buffer.handle = &known->handle;
        return {};
    }
    fact.kind = BufferFact::Unshareable;
    bool lasts = true;
    if (!settled_.contains(info.allocation_id) && PEERCOLL_DEVICE_HAS(memory.runtime, settle)) {
        int lasting = 0;
        peercoll_reason_t reason{};
        const peercoll_status_t code = memory.runtime->settle(&info, &lasting, &reason);
        if (code != PEERCOLL_SUCCESS) return {code, reason.text};
        if (settled_.size() >= most_settled) settled_.clear();
        lasts = lasting != 0;
        if (lasts && info.allocation_id != 0) settled_.insert(info.allocation_id);
    }
    const auto index = parts_.peers->index_of(*memory.runtime, info.device);
    if (!index) {
        new_device = true;
        return {};
    }
    fact.device = *index;
    if (inside) fact.allocation_id = info.allocation_id;
    if (info.handle_kinds == 0 || !inside) return {};
    // Not the one that the other buffer of this call has just been given.
    Described& next = *std::min_element(described_.begin(), described_.end(),
                                        [](const Described& a, const Described& b) { return a.used < b.used; });
    next = {memory.runtime, 0, *index, {}, ++descriptions_};
    parts_.process.exports->offer(*memory.runtime, info, next.handle);
    if (next.handle.kind == 0) return {};
    // What has to be settled in each call is not known for the next one.
    if (lasts) next.allocation_id = info.allocation_id;
    buffer.handle = &next.handle;
    fact.kind = BufferFact::Shareable;
    fact.allocation_id = next.handle.allocation_id;
    fact.offset = begin - next.handle.base;
    return {};
}

bool DeviceTeam::can_fold(const peercoll_device_runtime_t& runtime, std::int32_t device, peercoll_datatype_t datatype,
                          peercoll_op_t op) {
    const Foldable wanted{&runtime, device, datatype, op};
    if (foldable_ == wanted) return true;
    if (runtime.can_fold(device, datatype, op) == 0) return false;
    foldable_ = wanted;
    return true;
}

void DeviceTeam::arrive(const Buffer& source, const Buffer& destination, bool new_device, std::uint64_t step) {
    ++turn_;
    DeviceArrival& arrival = segment_.arrival(rank(), turn_);
    arrival.new_device = new_device ? 1 : 0;
    // Handles are many lines, and mostly those of the last time.
    if (arrival.source.allocation_id != source.fact.allocation_id || arrival.source.device != source.fact.device)
        arrival.source_handle = source.handle != nullptr ? *source.handle : peercoll_memory_handle_t{};
    if (arrival.destination.allocation_id != destination.fact.allocation_id ||
        arrival.destination.device != destination.fact.device)
        arrival.destination_handle = destination.handle != nullptr ? *destination.handle : peercoll_memory_handle_t{};
    arrival.source = source.fact;
    arrival.destination = destination.fact;
    arrival.deaths = static_cast<std::uint32_t>(
        parts_.process.exports->read_deaths(deaths_told_, std::span(arrival.dead, DeviceArrival::most_deaths)));
    arrival.step.store(step, std::memory_order_release);
}

void DeviceTeam::heed_deaths() {
    for (int peer = 0; peer < size(); ++peer) {
        if (peer == rank()) continue;
        const DeviceArrival& theirs = arrival(peer);
        // A number from another process: not more than there is room for.
        const std::uint32_t deaths = std::min(theirs.deaths, DeviceArrival::most_deaths);
        if (deaths > 0) cool();
        for (std::uint32_t i = 0; i < deaths; ++i) parts_.process.mappings->forget(identity(peer), theirs.dead[i]);
    }
}

const DeviceTeam::Mapped* DeviceTeam::find_mapped(int owner, std::int32_t device, std::uint64_t allocation_id) const {
    for (const Mapped& one : mapped_[static_cast<std::size_t>(owner)])
        if (one.allocation_id == allocation_id && one.device == device) return &one;
    return nullptr;
}

void DeviceTeam::note_mapped(int owner, const Mapped& mapped) {
    mapped_[static_cast<std::size_t>(owner)].push_back(mapped);
    ++mapped_count_;
}

void DeviceTeam::trim_mapped() {
    if (mapped_count_ > most_mapped_per_rank * mapped_.size()) cool();
}

void DeviceTeam::drop_mappings() {
    cool();
    parts_.process.mappings->leave(this);
}

void DeviceTeam::cool() {
    use_ = MappingCache::Use(*parts_.process.mappings, this);
    for (std::vector<Mapped>& of_owner : mapped_) of_owner.clear();
    mapped_count_ = 0;
}

// -- Shared host memory, as devices reach it --------------------------------------------------------------------------

std::uint64_t DeviceTeam::device_address(const peercoll_device_runtime_t& runtime, std::int32_t device,
                                         std::byte* memory, std::size_t bytes) {
    const auto known = std::find_if(registered_.begin(), registered_.end(), [&](const Registered& one) {
        return one.runtime == &runtime && one.device == device && one.memory == memory;
    });
    if (known != registered_.end()) return known->address;
    Registered made{&runtime, device, memory, false, 0};
    // A runtime may register memory for copies alone, and gives no address then.
    if (PEERCOLL_DEVICE_HAS(&runtime, register_host) && PEERCOLL_DEVICE_HAS(&runtime, unregister_host))
        made.registered = runtime.register_host(device, memory, bytes, &made.address, nullptr) == PEERCOLL_SUCCESS;
    if (!made.registered) made.address = 0;
    registered_.push_back(made);
    return made.address;
}

std::uint64_t DeviceTeam::flag_address(const peercoll_device_runtime_t& runtime, std::int32_t device,
                                       const std::atomic<std::uint64_t>& flag) {
    const std::uint64_t segment = device_address(runtime, device, parts_.segment, segment_bytes_);
    if (segment == 0) return 0;
    return segment + static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&flag) - parts_.segment);
}

std::uint64_t DeviceTeam::done_flag(const peercoll_device_runtime_t& runtime, std::int32_t device) {
    return flag_address(runtime, device, segment_.executor(rank()).done);
}

std::uint64_t DeviceTeam::turns_flag(const peercoll_device_runtime_t& runtime, std::int32_t device, std::size_t slot) {
    return flag_address(runtime, device, segment_.executor(rank()).device_turns[slot]);
}

DeviceTeam::Pool DeviceTeam::pool() const {
    std::byte* memory = host().cell(0, 0);
    return {memory, static_cast<std::size_t>(host().cell(size(), 0) - memory)};
}

std::uint64_t DeviceTeam::pool_address(const peercoll_device_runtime_t& runtime, std::int32_t device) {
    // The whole segment, which begins with a page.
    auto* segment = reinterpret_cast<std::byte*>(&host().header());
    const auto before = static_cast<std::size_t>(pool().memory - segment);
    const std::uint64_t address = device_address(runtime, device, segment, before + pool().bytes);
    return address == 0 ? 0 : address + before;
}

Status DeviceTeam::mirror_of_pool(const peercoll_device_runtime_t& runtime, std::int32_t device,
                                  std::uint64_t& address) {
    const auto known = std::find_if(mirrors_.begin(), mirrors_.end(),
                                    [&](const Mirror& one) { return one.runtime == &runtime && one.device == device; });
    if (known != mirrors_.end()) {
        address = known->address;
        return {};
    }
    if (!PEERCOLL_DEVICE_HAS(&runtime, allocate) || !PEERCOLL_DEVICE_HAS(&runtime, free_memory))
        return {PEERCOLL_ERR_NOT_SUPPORTED, "the device's kernels do not reach host memory"};
    peercoll_reason_t reason{};
    const peercoll_status_t code = runtime.allocate(device, pool().bytes, &address, &reason);
    if (code != PEERCOLL_SUCCESS) return {code, reason.text};
    mirrors_.push_back({&runtime, device, address});
    return {};
}

}  // namespace peercoll
