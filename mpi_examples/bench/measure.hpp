// SPDX-License-Identifier: BSD-3-Clause
// Timing of one collective at one size. Two ways, the same for every MPI measured:
//
//   single          barrier, clock, call, clock. A sample is the slowest rank's time of that call, without the
//                   barrier. For sizes where a call takes much longer than reading the clock.
//   back to back    barrier, clock, K calls on K / B rounds of the B buffers, clock. A sample is the
//                   slowest rank's time divided by K. For small sizes: a clock read costs as much as a call of 8 bytes,
//                   and leaving a barrier is less even than the call is long. A root that never changes may run ahead
//                   of the others here, as in any such loop; with a rotating root it cannot. Also for all sizes of
//                   device buffers: rewriting them between samples makes the device change its process, which costs far
//                   more than a launch and is no part of the collective.
//
// Between samples, outside the time, a buffer gets new contents. What steers the benchmark itself goes through
// MPI_Barrier, MPI_Scatter and MPI_Reduce only, so that the calls counted are the calls measured.
//
// A rival has buffers of its own and takes its samples in turn with MPI's, changing who begins. It is measured twice:
// waited for after each call, as MPI's blocking calls must be, and in a row of calls waited for once.
#pragma once

#include "collective.hpp"
#include "percentiles.hpp"
#include "settings.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace peercoll::bench {

struct RivalResult {
    Spread microseconds;           // each call waited for
    Spread in_a_row_microseconds;  // calls started one behind the other, waited for once; per call
    double algbw = 0;
    double busbw = 0;
    std::uint64_t wrong = 0;
};

struct Result {
    std::size_t bytes = 0;
    bool back_to_back = false;
    std::size_t buffers = 0;
    std::size_t calls_per_sample = 1;
    std::size_t samples = 0;
    Spread microseconds;
    double algbw = 0;  // GB/s: message size / median
    double busbw = 0;  // GB/s: allreduce algbw * 2 (p - 1) / p, broadcast algbw
    bool checked = false;
    std::uint64_t wrong = 0;  // elements, over all ranks
    std::uint64_t calls = 0;  // of this rank, with warm-up and checks
    std::optional<RivalResult> rival;
};

// Who and where, for all sizes.
struct Participants {
    int rank = 0;
    int ranks = 1;
    Memory& memory;
    int ranks_on_device = 0;  // most on one; 0: host memory
    Rival* rival = nullptr;
};

// Collective over MPI_COMM_WORLD. The result is complete on rank 0; on others the times are their own. `tell` gets a
// fraction done now and then.
Result measure(const Settings& settings, std::size_t bytes, const Participants& participants,
               const std::function<void(double)>& tell);

}  // namespace peercoll::bench
