// SPDX-License-Identifier: BSD-3-Clause
// collectives_over_hosts plan|rank_order|short|unproven|cut: the component in an MPI job over several hosts. Plain MPI:
// what was served it reads from MPI_T.
//
//   plan: sums of integers are exact, sums of fractions have the same bits on all ranks and are near the exact one.
//   rank_order: sums of fractions have the bits of a sum from rank to rank, as on one host.
//   short: a few sums and broadcasts, then a barrier of Open MPI's and the end at once: nobody stays behind to serve
//   the others' wires. unproven: the wire carries nothing, so all calls are passed on, with the right results. cut: the
//   last rank's host is cut off once LABORATORY_FOLDER/connected is there: an error, not a hang.
#include "tests/mpi/support.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using test::require;

double fraction(int rank, int i) {
    return (rank % 2 == 0 ? 1000.0 : 1.0) / (3 + 5 * rank + i % 101);
}

const std::vector<int> counts = {1, 2, 100, 5000, 70000, 1 << 20};

void expect_sums(MPI_Comm comm, bool in_rank_order) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    for (const int count : counts) {
        std::vector<std::int64_t> integers(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) integers[static_cast<std::size_t>(i)] = std::int64_t{rank} * i + rank;
        MPI_Allreduce(MPI_IN_PLACE, integers.data(), count, MPI_INT64_T, MPI_SUM, comm);
        const std::int64_t ranks = std::int64_t{size} * (size - 1) / 2;
        for (int i = 0; i < count; ++i)
            require(integers[static_cast<std::size_t>(i)] == ranks * i + ranks,
                    "a sum of integers is wrong at %d of %d", i, count);

        std::vector<double> mine(static_cast<std::size_t>(count));
        std::vector<double> sums(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) mine[static_cast<std::size_t>(i)] = fraction(rank, i);
        MPI_Allreduce(mine.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < count; ++i) {
            double expected = fraction(0, i);
            for (int r = 1; r < size; ++r) expected += fraction(r, i);
            const double got = sums[static_cast<std::size_t>(i)];
            require(in_rank_order ? got == expected : std::abs(got - expected) < 1e-12 * expected,
                    "a sum of fractions is wrong at %d of %d: %.17g, expected %.17g", i, count, got, expected);
        }
        // The same bits: what the smallest and the largest rank have, as integers.
        std::vector<std::uint64_t> bits(static_cast<std::size_t>(count));
        std::memcpy(bits.data(), sums.data(), bits.size() * sizeof bits[0]);
        std::uint64_t digest = std::accumulate(bits.begin(), bits.end(), std::uint64_t{1},
                                               [](std::uint64_t all, std::uint64_t one) { return all * 31 + one; });
        std::vector<std::uint64_t> digests(static_cast<std::size_t>(size));
        MPI_Allgather(&digest, 1, MPI_UINT64_T, digests.data(), 1, MPI_UINT64_T, comm);
        for (const std::uint64_t other : digests)
            require(other == digest, "ranks have different bits in %d sums", count);
    }
}

void expect_broadcasts(MPI_Comm comm) {
    for (int root = 0; root < test::size_of(comm); ++root) {
        for (const int count : counts) {
            std::vector<int> values(static_cast<std::size_t>(count));
            if (test::rank_of(comm) == root) std::iota(values.begin(), values.end(), root);
            MPI_Bcast(values.data(), count, MPI_INT, root, comm);
            for (int i = 0; i < count; ++i)
                require(values[static_cast<std::size_t>(i)] == root + i, "a broadcast from %d is wrong at %d", root, i);
        }
    }
}

void expect_served(bool in_rank_order) {
    const test::Totals totals;
    require(totals.allreduce_served.exists(), "the peercoll component is not loaded");
    expect_sums(MPI_COMM_WORLD, in_rank_order);
    expect_broadcasts(MPI_COMM_WORLD);
    // Every second rank, from the last to the first: other nodes, other numbers.
    MPI_Comm half = MPI_COMM_NULL;
    const int rank = test::rank_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    expect_sums(half, in_rank_order);
    expect_broadcasts(half);
    const auto halves = static_cast<unsigned long long>(test::size_of(half));
    MPI_Comm_free(&half);
    // Open MPI 5 makes allreduces of its own on such communicators; they are served, too.
    require(totals.allreduce_served.read() >= 4 * counts.size(), "%llu allreduces were served",
            totals.allreduce_served.read());
    const unsigned long long roots = halves + static_cast<unsigned long long>(test::size_of(MPI_COMM_WORLD));
    require(totals.broadcast_served.read() == roots * counts.size(), "%llu broadcasts were served",
            totals.broadcast_served.read());
    require(totals.allreduce_passed_on.read() == 0 && totals.broadcast_passed_on.read() == 0, "calls were passed on");
}

void expect_that_a_short_job_ends() {
    const test::Totals totals;
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    const std::int64_t ranks = std::int64_t{size} * (size - 1) / 2;
    // Small: who has a neighbour at a distance; large: everybody with everybody.
    for (const int count : {1, 100000}) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(count), rank);
        MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (const std::int64_t value : values) require(value == ranks, "a sum is wrong");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int word = rank;
    MPI_Bcast(&word, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    require(word == size - 1, "a broadcast is wrong");
    require(totals.allreduce_served.read() == 2 && totals.broadcast_served.read() == 1,
            "%llu allreduces and %llu broadcasts were served", totals.allreduce_served.read(),
            totals.broadcast_served.read());
    MPI_Barrier(MPI_COMM_WORLD);
}

// The wire does not carry messages: every rank finds so alike, and Open MPI serves the calls.
void expect_all_passed_on() {
    const test::Totals totals;
    require(totals.allreduce_served.exists(), "the peercoll component is not loaded");
    expect_sums(MPI_COMM_WORLD, false);
    expect_broadcasts(MPI_COMM_WORLD);
    require(totals.allreduce_served.read() == 0 && totals.broadcast_served.read() == 0,
            "calls were served over a wire that was not proven");
    require(totals.allreduce_passed_on.read() == 2 * counts.size(), "%llu allreduces were passed on",
            totals.allreduce_passed_on.read());
    const auto broadcasts = counts.size() * static_cast<std::size_t>(test::size_of(MPI_COMM_WORLD));
    require(totals.broadcast_passed_on.read() == broadcasts, "%llu broadcasts were passed on",
            totals.broadcast_passed_on.read());
}

void expect_an_error_when_cut_off() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<double> values(1 << 16, 1.0);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (test::rank_of(MPI_COMM_WORLD) == 0)
        std::ofstream(std::string(std::getenv("LABORATORY_FOLDER")) + "/connected").put('\n');
    int status = MPI_SUCCESS;
    // The laboratory takes some of these to cut the link.
    while (status == MPI_SUCCESS) {
        status = MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                               MPI_COMM_WORLD);
        ::usleep(1000);
    }
    if (test::rank_of(MPI_COMM_WORLD) == 0) {
        std::printf("told that a host is cut off\n");
        std::fflush(nullptr);
        // The job cannot end in an orderly way without it.
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    ::pause();
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const std::string what = argc == 2 ? argv[1] : "";
    require(what == "plan" || what == "rank_order" || what == "short" || what == "unproven" || what == "cut",
            "say plan, rank_order, short, unproven or cut");
    if (what == "cut")
        expect_an_error_when_cut_off();
    else if (what == "short")
        expect_that_a_short_job_ends();
    else if (what == "unproven")
        expect_all_passed_on();
    else
        expect_served(what == "rank_order");
    test::passed(what.c_str());
    return 0;
}
