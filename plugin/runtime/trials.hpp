// SPDX-License-Identifier: BSD-3-Clause
// Trials: where the table names several candidates, the first calls of a communicator and size use them in turn and
// time them; then all ranks agree on the fastest, which serves from then on. All ranks run the same calls in the same
// order, so they are always at the same point of a trial without asking each other; only the times are exchanged.
#pragma once

#include "collectives/host/time_agreement.hpp"

#include <peercoll/peercoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace peercoll {

class Trials {
public:
    // Each candidate is timed so often; its best time counts, so that page faults and interruptions do not.
    static constexpr std::uint32_t rounds = 4;

    struct Size {
        std::uint32_t calls = 0;
        bool decided = false;
        std::size_t fastest = 0;
        TimeAgreement::Times best{std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max(),
                                  std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};

        bool must_agree(std::size_t candidates) const { return !decided && calls >= rounds * candidates; }
        std::size_t next(std::size_t candidates) const { return decided ? fastest : calls % candidates; }
        void record(std::size_t candidate, std::uint64_t nanoseconds) {
            ++calls;
            if (nanoseconds < best[candidate]) best[candidate] = nanoseconds;
        }
        void decide(std::size_t candidate) {
            fastest = candidate;
            decided = true;
        }
    };
    // Sizes count as the same within a factor of two, up to a power of two: so do the table's rows.
    Size& of(peercoll_collective_t collective, std::size_t bytes) {
        const int power = bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
        return sizes_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(power)];
    }

private:
    std::array<std::array<Size, 65>, PEERCOLL_COLLECTIVE_END> sizes_{};
};

}  // namespace peercoll
