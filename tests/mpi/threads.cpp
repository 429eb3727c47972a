// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads of each rank, each on a communicator of its own, all at once.
#include "support.hpp"

#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int rounds = 300;

void work(MPI_Comm comm, int thread) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    std::vector<int> numbers(1 + 700 * thread);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = rank + round + static_cast<int>(i);
        }
        MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT, MPI_SUM, comm);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            test::require(numbers[i] == size * (size - 1) / 2 + size * (round + static_cast<int>(i)),
                          "thread %d, round %d: element %zu of a sum is wrong", thread, round, i);
        }
        const int root = (round + thread) % size;
        numbers.assign(numbers.size(), rank == root ? round * threads + thread : -1);
        MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, root, comm);
        for (const int number : numbers) {
            test::require(number == round * threads + thread, "thread %d, round %d: %d arrived", thread, round, number);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv, MPI_THREAD_MULTIPLE);
    const test::Totals totals;
    test::require(totals.allreduce_served.exists(), "the peercoll component is not loaded");
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
        workers.emplace_back(work, comms[thread], thread);
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    test::require(
        totals.allreduce_served.read() == threads * rounds && totals.broadcast_served.read() == threads * rounds,
        "%llu allreduces and %llu broadcasts were served, not %d each", totals.allreduce_served.read(),
        totals.broadcast_served.read(), threads * rounds);
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
    test::passed("threads on communicators of their own");
    return 0;
}
