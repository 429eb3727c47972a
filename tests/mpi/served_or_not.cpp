// SPDX-License-Identifier: BSD-3-Clause
// Right results whether peercoll serves or stands aside, and the totals that go with it.
//
//   served_or_not served | passed_on | absent
//
// `absent`: the component is not loaded, or refused to be.
#include "support.hpp"

#include <string>
#include <vector>

namespace {

using test::require;

void use(MPI_Comm comm) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    for (const int count : {1, 1000, 100000}) {
        std::vector<double> mine(count), sums(count);
        for (int i = 0; i < count; ++i) {
            mine[i] = rank + i;
        }
        MPI_Allreduce(mine.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < count; ++i) {
            require(sums[i] == size * (size - 1) / 2.0 + size * static_cast<double>(i), "a sum is wrong at %d", i);
        }
        const int root = count % size;
        MPI_Bcast(mine.data(), count, MPI_DOUBLE, root, comm);
        for (int i = 0; i < count; ++i) {
            require(mine[i] == root + i, "a broadcast is wrong at %d", i);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const std::string expected = argc > 1 ? argv[1] : "";
    require(expected == "served" || expected == "passed_on" || expected == "absent", "say served, passed_on or absent");
    const test::Totals totals;
    require(expected == "absent" || totals.allreduce_served.exists(), "the peercoll component is not loaded");

    // A broadcast as the first collective of one communicator, an allreduce as that of another, and halves of the job.
    int number = test::rank_of(MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    require(number == 0, "the first broadcast is wrong");
    use(MPI_COMM_WORLD);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    use(copy);
    MPI_Comm_free(&copy);

    if (expected == "absent") {
        require(!totals.allreduce_served.exists() || totals.allreduce_served.read() == 0, "calls were served");
    } else {
        const bool served = expected == "served";
        require(totals.allreduce_served.read() == (served ? 6 : 0), "%llu allreduces were served",
                totals.allreduce_served.read());
        require(totals.broadcast_served.read() == (served ? 7 : 0), "%llu broadcasts were served",
                totals.broadcast_served.read());
        require(totals.allreduce_passed_on.read() == (served ? 0 : 6), "%llu allreduces were passed on",
                totals.allreduce_passed_on.read());
        require(totals.broadcast_passed_on.read() == (served ? 0 : 7), "%llu broadcasts were passed on",
                totals.broadcast_passed_on.read());
    }
    test::passed(expected.c_str());
    return 0;
}
