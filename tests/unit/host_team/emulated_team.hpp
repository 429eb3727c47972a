// SPDX-License-Identifier: BSD-3-Clause
// All ranks of one team in this process: several HostTeam objects over one zeroed buffer. Tasks never block, so one
// thread can run them all, in any order it likes.
#pragma once

#include "collectives/host/host_team.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace peercoll::test {

struct TeamShape {
    int ranks = 2;
    std::vector<std::vector<int>> groups = {};  // empty: one group of all
    std::size_t budget = 0;                     // of the segment; 0: the least, so that few bytes make many chunks
    bool single_copy = true;
};

// Single copies inside one process. While `refuses` is set, the system says no.
class EmulatedReader final : public PeerReader {
public:
    bool refuses = false;
    bool read(int peer, std::uint64_t address, void* local, std::size_t bytes) noexcept override;
    bool write(int peer, std::uint64_t address, const void* local, std::size_t bytes) noexcept override;
    bool reachable(int peer, std::uint64_t address, std::size_t bytes) noexcept override;
};

class EmulatedTeam {
public:
    explicit EmulatedTeam(const TeamShape& shape);
    int size() const { return static_cast<int>(ranks_.size()); }
    HostTeam& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
    EmulatedReader* reader(int rank) { return readers_[static_cast<std::size_t>(rank)]; }  // null without single copy
    const std::vector<std::vector<int>>& groups() const { return groups_; }
    const ReductionPlan& rank_order() const { return rank_order_; }

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> segment_;
    std::vector<std::vector<int>> groups_;
    ReductionPlan rank_order_;
    std::vector<std::unique_ptr<HostTeam>> ranks_;
    std::vector<EmulatedReader*> readers_;  // owned by the teams
};

}  // namespace peercoll::test
