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
    // Each candidate is used in `rows` rows of `in_a_row` calls. Its best time counts, so that page faults and
    // interruptions do not. Short messages may take a quarter of the staging cells each: a row goes round the cells
    // once, since a process has not touched them before, and since each candidate leaves their lines where it suits
    // itself. For the latter, its first call does not count.
    struct Pattern {
        std::uint32_t rows;
        std::uint32_t in_a_row;
    };
    // The shortest ones, whose buffers stay in the caches from call to call, take long enough in a row to come to the
    // same buffers again where a program uses a few in turn.
    static constexpr Pattern of_shortest{2, 10};
    static constexpr std::size_t most_shortest_bytes = std::size_t{64} << 10;
    static constexpr Pattern of_short{2, 5};
    static constexpr Pattern of_long{4, 1};
    static constexpr std::size_t most_short_bytes = std::size_t{512} << 10;

    struct Size {
        Pattern pattern = of_long;
        std::uint32_t calls = 0;
        bool decided = false;
        std::size_t fastest = 0;
        TimeAgreement::Times best{std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max(),
                                  std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};

        bool must_agree(std::size_t candidates) const {
            return !decided && calls >= pattern.rows * pattern.in_a_row * candidates;
        }
        std::size_t next(std::size_t candidates) const {
            return decided ? fastest : calls / pattern.in_a_row % candidates;
        }
        void record(std::size_t candidate, std::uint64_t nanoseconds) {
            const bool counts = pattern.in_a_row == 1 || calls % pattern.in_a_row != 0;
            ++calls;
            if (counts && nanoseconds < best[candidate]) best[candidate] = nanoseconds;
        }
        void decide(std::size_t candidate) {
            fastest = candidate;
            decided = true;
        }
    };
    // Sizes count as the same within a factor of two, up to a power of two: so do the table's rows.
    Size& of(peercoll_collective_t collective, std::size_t bytes) {
        const int power = bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
        Size& size = sizes_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(power)];
        size.pattern = bytes <= most_shortest_bytes ? of_shortest : bytes <= most_short_bytes ? of_short : of_long;
        return size;
    }

private:
    std::array<std::array<Size, 65>, PEERCOLL_COLLECTIVE_END> sizes_{};
};

}  // namespace peercoll
