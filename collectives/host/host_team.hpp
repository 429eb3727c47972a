// SPDX-License-Identifier: BSD-3-Clause
// HostTeam: the ranks of one communicator on one node, as the host algorithms see them: the control segment, the
// clocks, the staging cells, the reduction plan and the groups. One object per rank and communicator; not thread safe.
//
// Steps. Every operation takes a fixed number of steps, the same on all ranks, so that a step number means the same
// thing everywhere without being exchanged. A rank publishes the steps it has taken in its clock.
//
// Reuse. What a rank writes for others (packet lines, staging cells) remembers the step at which every reader is done
// with it. Before it is written again, all clocks must have reached that step. `floor` is what is already known of all
// clocks; an allreduce moves it along for nothing, so only a rank that keeps broadcasting ever has to look.
#pragma once

#include "collectives/host/peer_reader.hpp"
#include "collectives/host/prefetch.hpp"
#include "collectives/host/segment_layout.hpp"
#include "collectives/host/slices.hpp"
#include "collectives/reduction/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace peercoll {

class HostTeam {
public:
    struct Parts {
        int rank = 0;
        int size = 1;
        std::byte* segment = nullptr;  // mapped, zeroed when made, shared by all ranks
        SegmentLayout layout;
        ReductionPlan plan;
        std::vector<std::vector<int>> groups;  // by hwloc; one group if there is nothing to tell apart
        std::unique_ptr<PeerReader>
            reader;  // null where single copy was refused or is switched off, on all ranks alike
    };
    explicit HostTeam(Parts parts);

    int rank() const { return parts_.rank; }
    int size() const { return parts_.size; }
    // The rank `distance` < size() further on, round the circle: where all ranks look at all others, everybody begins
    // with another one.
    int further_on(int distance) const {
        const int rank = parts_.rank + distance;
        return rank < parts_.size ? rank : rank - parts_.size;
    }
    // As Parts::reader, for a team whose ranks agree on it later. Before the first operation.
    void set_reader(std::unique_ptr<PeerReader> reader) { parts_.reader = std::move(reader); }
    // For a team that goes on in another communicator of the same ranks. Between operations only.
    void set_plan(ReductionPlan plan, std::vector<std::vector<int>> groups);
    // More ranks than processors: every wait for another rank may be a change of process. The same on all ranks.
    void set_crowded(bool crowded) { crowded_ = crowded; }
    bool crowded() const { return crowded_; }
    const ReductionPlan& plan() const { return parts_.plan; }
    const std::vector<std::vector<int>>& groups() const { return parts_.groups; }
    const std::vector<int>& group_of(int rank) const { return parts_.groups[group_index_[rank]]; }
    std::size_t group_index(int rank) const { return group_index_[rank]; }
    PeerReader* reader() const { return parts_.reader.get(); }
    SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(parts_.segment); }

    // -- Steps --------------------------------------------------------------------------------------------------------
    // Takes `steps` step numbers for an operation; returns the last one before them. Called in the operation's first
    // progress().
    std::uint64_t begin(std::uint64_t steps) {
        const std::uint64_t base = next_step_;
        next_step_ += steps;
        return base;
    }
    // Publishes those that were passed over as well, so that each is found in its own line of the clock.
    void publish(std::uint64_t step) {
        RankClock::Line* const lines = clocks_[parts_.rank].lines;
        if (published_ + clock_lines < step) published_ = step - clock_lines;
        while (published_ < step) {
            ++published_;
            lines[published_ % clock_lines].step.store(published_, std::memory_order_release);
        }
    }
    bool has_reached(int rank, std::uint64_t step) {
        if (seen_[rank] >= step) return true;
        const std::uint64_t now = clocks_[rank].lines[step % clock_lines].step.load(std::memory_order_acquire);
        if (now < step) return false;
        seen_[rank] = now;
        return true;
    }
    // Whether all other ranks have published `step`. Goes on where the last look for the same step stopped: a clock
    // that is looked at before its rank has written it must be fetched a second time, and its writer is slowed down.
    bool all_reached(std::uint64_t step) { return floor_ >= step || look_at_clocks(step); }
    // The same for the ranks in `ranks`.
    bool have_reached(const std::vector<int>& ranks, std::uint64_t step) {
        for (const int rank : ranks)
            if (rank != parts_.rank && !has_reached(rank, step)) return false;
        return true;
    }
    // Whether a rank has taken every step of the operations begun here.
    bool has_left(int rank) { return has_reached(rank, next_step_); }
    // For algorithms that learn it from the data itself: all ranks have published `step`.
    void raise_floor(std::uint64_t step) {
        if (floor_ < step) floor_ = step;
    }

    // What all operations so far have taken: the same on all ranks once they have done the same operations.
    struct Position {
        std::uint64_t step = 0;
        std::uint64_t packet_line = 0;
        std::uint64_t cell = 0;
        bool operator==(const Position&) const = default;
    };
    Position position() const { return {next_step_, next_packet_line_, next_cell_}; }

    // -- Arrivals -----------------------------------------------------------------------------------------------------
    RankArrival& arrival(int rank) const { return arrivals_[rank]; }

    // -- Packet lines -------------------------------------------------------------------------------------------------
    // Each rank has a ring of packet lines. An operation takes as many neighbouring lines of every ring as its message
    // needs, the same on all ranks, so that a rank that sends tiny messages only may be many of them ahead of its
    // readers. Whole pairs, because the adjacent-line prefetcher of a reader would take the next message's line from
    // its writer.
    PacketLine* packet(int rank, std::uint64_t line) const {
        return packets_ + static_cast<std::size_t>(rank) * packet_ring_lines + line;
    }
    PacketLine* own_packet(std::uint64_t line) const { return own_packets_ + line; }
    std::uint64_t take_packet(std::size_t lines) {
        const std::uint64_t first = packet_fits(next_packet_line_, lines) ? next_packet_line_ : 0;
        next_packet_line_ = first + whole_pairs(lines);
        return first;
    }
    // The step at which every reader is done with what this rank last wrote there.
    std::uint64_t packet_free_at(std::uint64_t first, std::size_t lines) const {
        std::uint64_t step = packet_free_at_[first / 2];
        for (std::uint64_t line = first + 2; line < first + lines; line += 2)
            step = std::max(step, packet_free_at_[line / 2]);
        return step;
    }
    void set_packet_free_at(std::uint64_t first, std::size_t lines, std::uint64_t step) {
        packet_free_at_[first / 2] = step;
        for (std::uint64_t line = first + 2; line < first + lines; line += 2) packet_free_at_[line / 2] = step;
    }
    // Fetches the lines of the message after the next, if it is like the one at `first`, of this rank for writing.
    // Their readers still hold them from the last time round; taking them back now keeps that off the path of the
    // message itself.
    void own_packet_soon(std::uint64_t first, std::size_t lines) const {
        const PacketLine* line = own_packet(packet_after_next(first, lines));
        if (lines == 1) {
            prefetch_to_write(line);
            return;
        }
        // So many lines taken back at once would delay the message that has just been written (broadcast, 1 KiB).
        for (std::size_t i = 0; i < lines; ++i) prefetch_to_read(line + i);
    }
    // The same for reading what `rank` has written there already.
    void read_packet_soon(int rank, std::uint64_t first, std::size_t lines) const {
        const PacketLine* line = packet(rank, packet_after_next(first, lines));
        prefetch_to_read(line);
        for (std::size_t i = 1; i < lines; ++i) prefetch_to_read(line + i);
    }

    // -- Staging cells ------------------------------------------------------------------------------------------------
    // Each rank's staging is a ring of cells, used in turn by all ranks alike. A chunk of a message takes one cell, or
    // a quarter, a half or all of them, neighbours: small chunks overlap with each other, large ones save meetings.
    static constexpr std::size_t cells = 16;
    static constexpr std::uint64_t quarter = cells / 4;
    std::size_t cell_bytes() const { return cell_bytes_; }
    std::size_t quarter_bytes() const { return quarter * cell_bytes_; }
    std::byte* cell(int rank, std::uint64_t index) const {
        return staging_ + static_cast<std::size_t>(rank) * parts_.layout.staging_per_rank +
               (index % cells) * cell_bytes_;
    }
    // The cell that `rank` writes where every rank writes one and reads all others. Two ranks change cells with each
    // round of the ring: the lines that a rank has read last time lie in its own cache, and nobody has to fetch them
    // from there when it writes them now (a tenth to a fifth of the time of 1 to 256 KiB). A cell is free for either of
    // them as its own notes say: what the other wrote there it has read itself.
    std::byte* exchanged_cell(int rank, std::uint64_t index) const {
        return cell(parts_.size == 2 && index / cells % 2 == 1 ? 1 - rank : rank, index);
    }
    // Takes `count` chunks of `span` neighbouring cells, a power of two; returns the first cell of the first chunk.
    std::uint64_t take_cells(std::uint64_t count, std::uint64_t span) {
        const std::uint64_t first = (next_cell_ + span - 1) & ~(span - 1);
        next_cell_ = first + count * span;
        return first;
    }
    // The step at which every reader is done with what this rank last wrote into `span` cells.
    std::uint64_t cells_free_at(std::uint64_t index, std::uint64_t span) const {
        std::uint64_t step = 0;
        for (std::uint64_t i = 0; i < span; ++i) step = std::max(step, cell_free_at_[(index + i) % cells]);
        return step;
    }
    void set_cells_free_at(std::uint64_t index, std::uint64_t span, std::uint64_t step) {
        for (std::uint64_t i = 0; i < span; ++i) cell_free_at_[(index + i) % cells] = step;
    }

    // `count` elements shared out among all ranks in whole cache lines. Good until others are asked for; asking for the
    // same again takes no division.
    const Slices& shares(std::size_t count, std::size_t element_bytes) {
        if (count != shares_.count() || element_bytes != shares_element_bytes_) {
            shares_ = Slices(count, static_cast<std::size_t>(parts_.size), line_granule(element_bytes));
            shares_element_bytes_ = element_bytes;
        }
        return shares_;
    }

    // Grow-only private memory, 64-byte aligned. Null if there is none to be had.
    std::byte* scratch(std::size_t bytes) noexcept {
        return bytes <= scratch_bytes_ ? scratch_.get() : larger_scratch(bytes);
    }
    // Room for one input address per rank, for the fold of the operation under way.
    const void** inputs() { return inputs_.data(); }

private:
    bool look_at_clocks(std::uint64_t step);
    std::byte* larger_scratch(std::size_t bytes) noexcept;
    static constexpr std::uint64_t whole_pairs(std::size_t lines) { return (lines + 1) / 2 * 2; }
    static bool packet_fits(std::uint64_t first, std::size_t lines) {
        return first + whole_pairs(lines) <= packet_ring_lines;
    }
    static std::uint64_t packet_after_next(std::uint64_t first, std::size_t lines) {
        const std::uint64_t line = first + 2 * whole_pairs(lines);
        return packet_fits(line, lines) ? line : 0;
    }

    Parts parts_;
    RankClock* clocks_;
    RankArrival* arrivals_;
    PacketLine* packets_;
    PacketLine* own_packets_;
    std::byte* staging_;
    std::size_t cell_bytes_;
    bool crowded_ = false;
    std::vector<std::size_t> group_index_;
    std::vector<std::uint64_t> seen_;  // the last value read of each clock
    std::vector<const void*> inputs_;
    std::uint64_t floor_ = 0;
    std::uint64_t awaited_ = 0;  // the step all_reached() was last asked for ...
    int cursor_ = 1;             // ... and how far from this rank the first one is that was not yet seen there
    std::uint64_t published_ = 0;
    std::uint64_t next_step_ = 0;
    std::uint64_t next_packet_line_ = 0;
    std::uint64_t next_cell_ = 0;
    std::uint64_t packet_free_at_[packet_ring_lines / 2] = {};  // by pair of lines
    std::uint64_t cell_free_at_[cells] = {};
    Slices shares_;
    std::size_t shares_element_bytes_ = 1;
    struct FreeAligned {
        void operator()(std::byte* memory) const noexcept;
    };
    std::unique_ptr<std::byte, FreeAligned> scratch_;
    std::size_t scratch_bytes_ = 0;
};

}  // namespace peercoll
