// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/host_team/emulated_team.hpp"

#include <cstring>
#include <new>

namespace peercoll::test {

bool EmulatedReader::read(int, std::uint64_t address, void* local, std::size_t bytes) noexcept {
    if (refuses) return false;
    std::memcpy(local, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), bytes);
    return true;
}

bool EmulatedReader::write(int, std::uint64_t address, const void* local, std::size_t bytes) noexcept {
    if (refuses) return false;
    std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), local, bytes);
    return true;
}

bool EmulatedReader::reachable(int peer, std::uint64_t address, std::size_t bytes) noexcept {
    char byte = 0;
    return read(peer, address, &byte, 1) && read(peer, address + bytes - 1, &byte, 1);
}

EmulatedTeam::EmulatedTeam(const TeamShape& shape)
    : groups_(shape.groups), rank_order_(ReductionPlan::in_rank_order(shape.ranks)) {
    if (groups_.empty()) groups_ = rank_order_.blocks();
    const SegmentLayout layout = SegmentLayout::make(static_cast<std::size_t>(shape.ranks), shape.budget);
    void* memory = nullptr;
    if (::posix_memalign(&memory, alignof(SegmentHeader), layout.bytes) != 0) throw std::bad_alloc();
    segment_.reset(static_cast<std::byte*>(memory));
    std::memset(segment_.get(), 0, layout.bytes);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        HostTeam::Parts parts;
        parts.rank = rank;
        parts.size = shape.ranks;
        parts.segment = segment_.get();
        parts.layout = layout;
        parts.plan = ReductionPlan(groups_);
        parts.groups = groups_;
        readers_.push_back(nullptr);
        if (shape.single_copy) {
            auto reader = std::make_unique<EmulatedReader>();
            readers_.back() = reader.get();
            parts.reader = std::move(reader);
        }
        ranks_.push_back(std::make_unique<HostTeam>(std::move(parts)));
    }
}

}  // namespace peercoll::test
