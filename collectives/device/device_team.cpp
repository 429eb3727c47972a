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
}  // namespace

DeviceTeam::DeviceTeam(Parts parts)
    : parts_(std::move(parts)),
      segment_(DeviceSegment::at(parts_.segment, static_cast<std::size_t>(size()))),
      segment_bytes_(DeviceSegment::bytes(static_cast<std::size_t>(size()))),
      deaths_told_(parts_.process.exports->deaths()) {
    segment_.executor(rank()).wanted_rank.store(-1, std::memory_order_relaxed);
}

DeviceTeam::~DeviceTeam() {
    parts_.process.mappings->leave(this);
    for (const Registered& one : registered_)
        if (one.address != 0) one.runtime->unregister_host(one.device, parts_.segment);
}

Status DeviceTeam::describe(const ClassifiedMemory& memory, const void* address, std::size_t bytes, BufferFact& fact,
                            bool& new_device) {
    fact = BufferFact{};
    if (!memory.on_device()) {
        if (memory.pinned()) fact.kind = BufferFact::Pinned;
        return {};
    }
    fact.kind = BufferFact::Unshareable;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const peercoll_pointer_info_t& info = memory.info;
    if (!settled_.contains(info.allocation_id) && PEERCOLL_DEVICE_HAS(memory.runtime, settle)) {
        int lasting = 0;
        peercoll_reason_t reason{};
        const peercoll_status_t code = memory.runtime->settle(&info, &lasting, &reason);
        if (code != PEERCOLL_SUCCESS) return {code, reason.text};
        if (settled_.size() >= most_settled) settled_.clear();
        if (lasting != 0 && info.allocation_id != 0) settled_.insert(info.allocation_id);
    }
    const auto index = parts_.peers->index_of(*memory.runtime, info.device);
    if (!index) {
        new_device = true;
        return {};
    }
    fact.device = *index;
    const bool inside = begin >= info.base && bytes <= info.bytes && begin - info.base <= info.bytes - bytes;
    if (info.handle_kinds == 0 || !inside) return {};
    parts_.process.exports->offer(*memory.runtime, info, fact.handle);
    if (fact.handle.kind == 0) return {};
    fact.kind = BufferFact::Shareable;
    fact.offset = begin - fact.handle.base;
    return {};
}

DeviceArrival& DeviceTeam::next_arrival() {
    ++turn_;
    DeviceArrival& arrival = segment_.arrival(rank(), turn_);
    arrival.new_device = 0;
    parts_.process.exports->recheck();
    arrival.deaths = static_cast<std::uint32_t>(
        parts_.process.exports->read_deaths(deaths_told_, std::span(arrival.dead, DeviceArrival::most_deaths)));
    return arrival;
}

void DeviceTeam::heed_deaths() {
    for (int peer = 0; peer < size(); ++peer) {
        if (peer == rank()) continue;
        const DeviceArrival& theirs = arrival(peer);
        // A number from another process: not more than there is room for.
        const std::uint32_t deaths = std::min(theirs.deaths, DeviceArrival::most_deaths);
        for (std::uint32_t i = 0; i < deaths; ++i) parts_.process.mappings->forget(identity(peer), theirs.dead[i]);
    }
}

std::uint64_t DeviceTeam::done_flag(const peercoll_device_runtime_t& runtime, std::int32_t device) {
    auto known = std::find_if(registered_.begin(), registered_.end(),
                              [&](const Registered& one) { return one.runtime == &runtime && one.device == device; });
    if (known == registered_.end()) {
        Registered made{&runtime, device, 0};
        if (PEERCOLL_DEVICE_HAS(&runtime, register_host) && PEERCOLL_DEVICE_HAS(&runtime, unregister_host) &&
            runtime.register_host(device, parts_.segment, segment_bytes_, &made.address, nullptr) != PEERCOLL_SUCCESS)
            made.address = 0;
        known = registered_.insert(registered_.end(), made);
    }
    if (known->address == 0) return 0;
    const auto* done = reinterpret_cast<const std::byte*>(&segment_.executor(rank()).done);
    return known->address + static_cast<std::uint64_t>(done - parts_.segment);
}

}  // namespace peercoll
