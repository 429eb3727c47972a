// SPDX-License-Identifier: BSD-3-Clause
// One collective at one size on a set of buffers: prepare contents, call, compare.
#pragma once

#include "buffers.hpp"
#include "pattern.hpp"
#include "settings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace peercoll::bench {

// Another library that does the same collective on the same buffers, to be compared with.
class Rival {
public:
    Rival() = default;
    virtual ~Rival() = default;
    Rival(const Rival&) = delete;
    Rival& operator=(const Rival&) = delete;

    virtual std::string name() const = 0;
    virtual void allreduce(const void* send, void* receive, std::size_t count) = 0;
    virtual void broadcast(void* buffer, std::size_t count, int root) = 0;
    // Returns when everything asked for has been done.
    virtual void finish() = 0;
};

class Collective {
public:
    Collective(const Settings& settings, std::size_t bytes, int rank, int ranks, std::size_t buffers, Memory& memory);

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
    // The same by `rival`, started but not finished.
    void start(Rival& rival, std::size_t index) {
        if (broadcast_) {
            rival.broadcast(set_.send(index), static_cast<std::size_t>(count_), root_of(index));
        } else {
            rival.allreduce(set_.send(index), in_place_ ? set_.send(index) : set_.receive(index),
                            static_cast<std::size_t>(count_));
        }
    }

    // New contents for the inputs of buffer `index`, the same seed on all ranks. A receiving buffer is left alone.
    void refill(std::size_t index);
    // refill(), and poison where the result will be.
    void refill_and_poison(std::size_t index);
    // Poison alone, over what an earlier call left.
    void poison_result(std::size_t index);
    // Elements of this rank's result in buffer `index` that are wrong, if one call was made since refill().
    std::size_t count_wrong(std::size_t index);
    // Whether results are still checkable after several calls on the same contents.
    bool repeatable() const { return !in_place_; }
    // Whether contents are replaced between samples.
    bool on_device() const { return set_.memory().is_device(); }
    bool rewritten() const { return bytes_ <= set_.memory().largest_rewritten(); }

private:
    int root_of(std::size_t index) const { return root_ ? *root_ : static_cast<int>(index) % pattern_.ranks; }
    bool sends(std::size_t index) const { return !broadcast_ || root_of(index) == rank_; }
    std::size_t count_wrong_copies(const void* buffer, std::uint32_t seed, int from) const;
    std::size_t count_wrong_results(const void* buffer, std::uint32_t seed) const;

    bool broadcast_;
    bool in_place_;
    std::optional<int> root_;
    int rank_;
    Pattern pattern_;
    std::size_t element_bytes_;
    std::size_t bytes_;
    int count_;
    MPI_Datatype type_;
    MPI_Op op_;
    BufferSet set_;
    std::uint32_t next_seed_ = 1;
    std::uint64_t calls_ = 0;
};

}  // namespace peercoll::bench
