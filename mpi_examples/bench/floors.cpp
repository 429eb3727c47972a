// SPDX-License-Identifier: BSD-3-Clause
#include "floors.hpp"

#include "buffers.hpp"
#include "percentiles.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace peercoll::bench {

namespace {

double copy_rate(BufferSet& set, std::size_t bytes, double seconds) {
    std::vector<double> per_copy;
    std::size_t index = 0;
    const std::size_t batch = std::max((std::size_t{64} << 10) / bytes, std::size_t{1});
    MPI_Barrier(MPI_COMM_WORLD);
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end || per_copy.size() < 5) {
        const double start = MPI_Wtime();
        for (std::size_t copy = 0; copy < batch; ++copy) {
            std::memcpy(set.receive(index), set.send(index), bytes);
            // Keeps the compiler from dropping copies that nobody reads.
            asm volatile("" : : "r"(set.receive(index)) : "memory");
            if (++index == set.size()) index = 0;
        }
        per_copy.push_back((MPI_Wtime() - start) / static_cast<double>(batch));
    }
    const double mine = static_cast<double>(bytes) / std::max(spread_of(per_copy).median, 1e-12) / 1e9;
    double slowest = mine;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    return slowest;
}

// A counter on a line of its own whose neighbour, which some processors fetch along, is not used either.
struct alignas(128) Bounce {
    std::atomic<std::uint64_t> turn;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the counter is shared between processes");

class SharedBounce {
public:
    explicit SharedBounce(int rank) {
        void* base = nullptr;
        const MPI_Aint bytes = rank == 0 ? 2 * sizeof(Bounce) : 0;
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
        MPI_Aint size = 0;
        int unit = 1;
        MPI_Win_shared_query(window_, 0, &size, &unit, &base);
        std::size_t space = static_cast<std::size_t>(size);
        void* aligned = std::align(alignof(Bounce), sizeof(Bounce), base, space);
        if (aligned == nullptr) throw std::runtime_error("the shared window is too small for one aligned counter");
        bounce_ = static_cast<Bounce*>(aligned);
        if (rank == 0) std::construct_at(bounce_)->turn.store(0, std::memory_order_release);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~SharedBounce() { MPI_Win_free(&window_); }
    SharedBounce(const SharedBounce&) = delete;
    SharedBounce& operator=(const SharedBounce&) = delete;

    std::atomic<std::uint64_t>& turn() { return bounce_->turn; }

private:
    MPI_Win window_ = MPI_WIN_NULL;
    Bounce* bounce_ = nullptr;
};

void wait_for(const std::atomic<std::uint64_t>& turn, std::uint64_t value) {
    for (unsigned spins = 0; turn.load(std::memory_order_acquire) != value; ++spins) {
        // Ranks may share a core; then the other one must get it.
        if (spins % 4096 == 4095) sched_yield();
    }
}

// `round_trips` round trips; the starter begins at `from`.
void bounce(std::atomic<std::uint64_t>& turn, std::uint64_t from, std::size_t round_trips, bool starter) {
    for (std::uint64_t trip = 0; trip < round_trips; ++trip) {
        const std::uint64_t mine = from + 2 * trip;
        if (starter) {
            turn.store(mine + 1, std::memory_order_release);
            wait_for(turn, mine + 2);
        } else {
            wait_for(turn, mine + 1);
            turn.store(mine + 2, std::memory_order_release);
        }
    }
}

}  // namespace

std::vector<CopyBandwidth> measure_copy_bandwidth(const std::vector<std::size_t>& sizes, double seconds, int ranks) {
    std::vector<CopyBandwidth> results;
    for (const std::size_t bytes : sizes) {
        CopyBandwidth result;
        result.bytes = bytes;
        HostMemory memory;
        BufferSet one(1, bytes, memory);
        result.hot = copy_rate(one, bytes, seconds / 2);
        const std::size_t all = last_level_cache_bytes() * 3 / 2 / static_cast<std::size_t>(ranks);
        BufferSet many(std::clamp(all / (2 * bytes) + 1, std::size_t{2}, std::size_t{65536}), bytes, memory);
        result.cold = copy_rate(many, bytes, seconds / 2);
        results.push_back(result);
    }
    return results;
}

std::vector<LineLatency> measure_line_latencies(int rank, int ranks) {
    constexpr std::size_t batches = 21;
    constexpr std::size_t round_trips = 2000;
    std::vector<LineLatency> results;
    if (ranks < 2) return results;
    for (int other = 1; other < ranks; ++other) results.push_back({0, other, 0});
    for (int first = 1; first + 1 < ranks; ++first) results.push_back({first, first + 1, 0});

    SharedBounce shared(rank);
    std::uint64_t from = 0;
    for (LineLatency& pair : results) {
        std::vector<double> one_way;
        for (std::size_t batch = 0; batch < batches; ++batch) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double start = MPI_Wtime();
            if (rank == pair.from || rank == pair.to) bounce(shared.turn(), from, round_trips, rank == pair.from);
            one_way.push_back((MPI_Wtime() - start) / (2.0 * round_trips) * 1e9);
            from += 2 * round_trips;
        }
        // The first ranks' clock of each pair reaches rank 0 as the maximum: all others report zero.
        const double mine = rank == pair.from ? spread_of(one_way).min : 0;
        MPI_Reduce(&mine, &pair.one_way_ns, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    return results;
}

}  // namespace peercoll::bench
