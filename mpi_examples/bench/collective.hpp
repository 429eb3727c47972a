// SPDX-License-Identifier: BSD-3-Clause
// One collective at one size on a set of buffers: prepare contents, call, compare.
#pragma once

#include "buffers.hpp"
#include "pattern.hpp"
#include "settings.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll::bench {

class Collective {
public:
    Collective(const Settings& settings, std::size_t bytes, int rank, int ranks, std::size_t buffers);

    std::size_t buffers() const { return set_.size(); }
    std::size_t bytes() const { return bytes_; }
    std::uint64_t calls() const { return calls_; }

    // The MPI call, and nothing else, on buffer `index`.
    void call(std::size_t index) {
        ++calls_;
        if (broadcast_) {
            MPI_Bcast(set_.send(index), count_, type_, root_of(index), MPI_COMM_WORLD);
        } else if (in_place_) {
            MPI_Allreduce(MPI_IN_PLACE, set_.send(index), count_, type_, op_, MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(set_.send(index), set_.receive(index), count_, type_, op_, MPI_COMM_WORLD);
        }
    }

    // New contents for the inputs of buffer `index`, the same seed on all ranks. A receiving buffer is left alone.
    void refill(std::size_t index);
    // refill(), and poison where the result will be.
    void refill_and_poison(std::size_t index);
    // Elements of this rank's result in buffer `index` that are wrong, if one call was made since refill().
    std::size_t count_wrong(std::size_t index);
    // Whether results are still checkable after several calls on the same contents.
    bool repeatable() const { return !in_place_; }

private:
    int root_of(std::size_t index) const { return root_ ? *root_ : static_cast<int>(index) % pattern_.ranks; }
    bool sends(std::size_t index) const { return !broadcast_ || root_of(index) == rank_; }

    bool broadcast_;
    bool in_place_;
    std::optional<int> root_;
    int rank_;
    Pattern pattern_;
    std::size_t bytes_;
    int count_;
    MPI_Datatype type_;
    MPI_Op op_;
    BufferSet set_;
    std::uint32_t next_seed_ = 1;
    std::uint64_t calls_ = 0;
};

}  // namespace peercoll::bench
