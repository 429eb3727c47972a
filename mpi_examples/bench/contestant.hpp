// SPDX-License-Identifier: BSD-3-Clause
// One contestant's samples of a collective at one size: MPI's, or a rival's.
#pragma once

#include "collective.hpp"
#include "percentiles.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll::bench {

// Rank 0's number, on all ranks.
std::uint64_t from_rank_0(std::uint64_t value, int ranks);

// How a size is sampled, the same for all contestants and ranks.
struct Plan {
    bool back_to_back = false;
    std::size_t calls_per_sample = 1;
    std::size_t samples = 0;
};

// Works on the buffers [first, first + buffers) of the collective.
class Contestant {
public:
    enum class Finish : std::uint8_t { EachCall, EachSample };

    // `rival` nullptr: MPI, whose calls are finished when they return.
    Contestant(Collective& collective, std::size_t first, std::size_t buffers, Rival* rival, Finish finish);

    // A call on each of the first `most` buffers, with fresh contents, checked.
    void check_buffers(std::size_t most);
    // Seconds of `calls` calls behind a barrier.
    double row_of_calls(std::size_t calls);
    // Fresh contents everywhere, before the first sample.
    void begin_samples(const Plan& plan);
    // Takes sample number `sample`, and replaces the contents of the buffer that will be needed last.
    double take_sample(std::size_t sample);
    // What the timed calls left behind must be right too: at least one buffer's, others within `budget` bytes.
    void check_left_behind(std::size_t budget);

    std::size_t buffers() const { return buffers_; }
    // The slowest rank's samples, on rank 0. Collective.
    Spread slowest() const;
    // All ranks' wrong elements, on all ranks. Collective.
    std::uint64_t all_wrong(int ranks) const;

private:
    void call(std::size_t index);

    Collective& collective_;
    std::size_t first_;
    std::size_t buffers_;
    Rival* rival_;
    Finish finish_;
    Plan plan_;
    std::vector<double> samples_;  // seconds of a call
    std::vector<bool> used_;       // whether a buffer's result belongs to its present contents
    std::uint64_t wrong_ = 0;
};

}  // namespace peercoll::bench
