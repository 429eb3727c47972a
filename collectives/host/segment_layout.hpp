// SPDX-License-Identifier: BSD-3-Clause
// The control segment of one node and communicator: what lies where, who writes it, who reads it.
//
//   header | clocks (four line pairs) | arrivals (a line pair) | packet lines (9.5 KiB) | staging (the rest)
//
// all but the header once for each rank.
//
// Every line has one writer, its rank. A rank's clock counts the steps it has taken since the segment was made; a step
// number that has been published says that everything before it is done and visible (release), and readers acquire it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peercoll {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t line_pair = 128;  // the adjacent-line prefetcher fetches pairs: writers keep that apart

struct alignas(4096) SegmentHeader {
    std::uint64_t magic;
    // Not zero once a rank has given up (peer lost, time limit): everybody else gives up too. Any rank writes, once.
    std::atomic<std::uint32_t> abort_code;
    std::atomic<std::int32_t> abort_rank;
    // The first operation (its position in steps, never 0) in which a rank had a device buffer that nobody knew of.
    std::atomic<std::uint64_t> devices_since;
};

// Written by its rank alone, after each step: step s into line s % clock_lines. Who still waits for one step would,
// with a single line, take it from its writer while that has the next step to write (16 ranks, the exchange of staged
// in a program of its own, 512 bytes: 2.4 us with one line, 1.5 with one for each step).
inline constexpr std::size_t clock_lines = 4;
struct RankClock {
    struct alignas(line_pair) Line {
        std::atomic<std::uint64_t> step;
    };
    Line lines[clock_lines];
};

// Where a rank's buffers are, for single copies. Written before the clock step that announces it, reused after the
// step that ends the operation.
struct alignas(line_pair) RankArrival {
    std::atomic<std::uint64_t> source;
    std::atomic<std::uint64_t> destination;
    // The operation (its first step) in which this rank could not reach a peer's buffer.
    std::atomic<std::uint64_t> refused_step;
    std::atomic<std::uint64_t> trial_time[4];  // see TimeAgreement
};

// One cache line that carries its own flag: 56 bytes of payload are valid when `step` has the awaited value.
struct alignas(cache_line) PacketLine {
    std::atomic<std::uint64_t> step;
    std::byte payload[cache_line - sizeof(std::uint64_t)];
};

inline constexpr std::size_t packet_payload = sizeof(PacketLine::payload);
inline constexpr std::size_t packet_lines = 19;        // of one message: 1 KiB and a little
inline constexpr std::size_t packet_ring_lines = 152;  // of one rank: 7 of the longest messages, or 76 of one line
inline constexpr std::size_t packet_max_bytes = packet_payload * packet_lines;

static_assert(packet_ring_lines % 2 == 0 && packet_ring_lines >= packet_lines + 1);
static_assert(sizeof(SegmentHeader) == 4096);
static_assert(sizeof(RankClock) == clock_lines * line_pair && sizeof(RankArrival) == line_pair);
static_assert(sizeof(PacketLine) == cache_line && offsetof(PacketLine, payload) == 8);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Offsets in bytes from the start of the segment.
struct SegmentLayout {
    std::size_t ranks = 0;
    std::size_t clocks = 0;
    std::size_t arrivals = 0;
    std::size_t packets = 0;
    std::size_t staging = 0;
    std::size_t staging_per_rank = 0;  // a multiple of 4096
    std::size_t bytes = 0;             // of the whole segment

    // The layout of `ranks` ranks in at most `budget` bytes; never less than one page of staging a rank.
    static SegmentLayout make(std::size_t ranks, std::size_t budget);
    static std::size_t default_budget(std::size_t ranks) {
        return (std::size_t{1} << 20) + (std::size_t{64} << 10) * ranks;
    }
    static std::size_t minimum_budget(std::size_t ranks);
};

}  // namespace peercoll
