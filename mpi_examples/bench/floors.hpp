// SPDX-License-Identifier: BSD-3-Clause
// What the machine itself can do: the floors that a collective's time is compared with.
#pragma once

#include <cstddef>
#include <vector>

namespace peercoll::bench {

// memcpy of `bytes` bytes by all ranks at the same time, in bytes copied per second and rank (the slowest rank's).
struct CopyBandwidth {
    std::size_t bytes = 0;
    double hot = 0;   // GB/s: the same two buffers again and again
    double cold = 0;  // GB/s: source and destination new each time, from a set larger than the last-level caches
};

// The time a cache line takes from rank `from` to rank `to`: half a round trip of a counter both spin on.
struct LineLatency {
    int from = 0;
    int to = 0;
    double one_way_ns = 0;  // least of the batches of round trips: a floor is not raised by a busy machine
};

// Both collective over MPI_COMM_WORLD, complete on rank 0.
std::vector<CopyBandwidth> measure_copy_bandwidth(const std::vector<std::size_t>& sizes, double seconds, int ranks);
// Rank 0 with each other rank, and each rank with the next. Empty for one rank. All ranks must be on one host.
std::vector<LineLatency> measure_line_latencies(int rank, int ranks);

}  // namespace peercoll::bench
