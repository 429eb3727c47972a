// SPDX-License-Identifier: BSD-3-Clause
// Communicators of all kinds come and go: duplicates, halves, groups, reordered ranks, topologies, one rank, and
// between groups. Those of two and more ranks in one group are served, the others work as ever.
#include "support.hpp"

#include <vector>

namespace {

using test::require;

const test::Totals* totals = nullptr;

// A sum of each rank's number and a broadcast from the last rank.
void use(MPI_Comm comm, const char* what) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    std::vector<long> sums(100, rank + 1);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 100, MPI_LONG, MPI_SUM, comm);
    for (const long sum : sums) {
        require(sum == size * (size + 1L) / 2, "%s: the sum over %d ranks is %ld", what, size, sum);
    }
    std::vector<int> numbers(300, rank);
    MPI_Bcast(numbers.data(), 300, MPI_INT, size - 1, comm);
    for (const int number : numbers) {
        require(number == size - 1, "%s: %d arrived from rank %d", what, number, size - 1);
    }
}

void use_served(MPI_Comm comm, const char* what) {
    const auto allreduces = totals->allreduce_served.read();
    const auto broadcasts = totals->broadcast_served.read();
    use(comm, what);
    const unsigned long long expected = test::size_of(comm) > 1 ? 1 : 0;
    require(totals->allreduce_served.read() == allreduces + expected &&
                totals->broadcast_served.read() == broadcasts + expected,
            "%s of %d ranks: not served as expected", what, test::size_of(comm));
}

void duplicates() {
    for (int i = 0; i < 100; ++i) {
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (i % 3 != 0) {
            use_served(copy, "duplicate");
        }
        if (i % 10 == 1) {  // a copy of the copy outlives it
            MPI_Comm second = MPI_COMM_NULL;
            MPI_Comm_dup(copy, &second);
            MPI_Comm_free(&copy);
            use_served(second, "duplicate of a freed duplicate");
            copy = second;
        }
        MPI_Comm_free(&copy);
    }
    use_served(MPI_COMM_WORLD, "MPI_COMM_WORLD");
}

void parts() {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
    use_served(part, "half");
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &part);
    use_served(part, "reversed order");
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &part);
    if (part != MPI_COMM_NULL) {
        use_served(part, "all but rank 0");
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    use_served(part, "node");
    MPI_Comm_free(&part);
}

void groups_and_topologies() {
    const int size = test::size_of(MPI_COMM_WORLD);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group without_last = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    const int last = size - 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &last, &without_last);
    MPI_Comm_create(MPI_COMM_WORLD, without_last, &comm);
    if (comm != MPI_COMM_NULL) {
        use_served(comm, "group without the last rank");
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&without_last);
    MPI_Group_free(&world);

    const int dimension = size;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 1, &comm);
    use_served(comm, "ring");
    MPI_Comm_free(&comm);
}

void one_rank() {
    use_served(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    use_served(copy, "duplicate of MPI_COMM_SELF");
    MPI_Comm_free(&copy);
}

void between_groups() {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    const int side = rank % 2;
    const int odd_ranks = size / 2;
    const int others = side == 0 ? odd_ranks : size - odd_ranks;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
    const auto served = totals->allreduce_served.read();
    int mine = side + 1;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between);
    require(sum == others * (2 - side), "the sum over the other group is %d", sum);
    int root = MPI_PROC_NULL;
    if (side == 0) {
        root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    } else {
        root = 0;
    }
    int number = rank == 0 ? 4711 : 0;
    MPI_Bcast(&number, 1, MPI_INT, root, between);
    require(side == 0 || number == 4711, "%d arrived from the other group", number);
    require(totals->allreduce_served.read() == served, "an inter-communicator was served");

    MPI_Comm together = MPI_COMM_NULL;
    MPI_Intercomm_merge(between, side, &together);
    use_served(together, "merged groups");
    MPI_Comm_free(&together);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Totals all_totals;
    totals = &all_totals;
    require(totals->allreduce_served.exists(), "the peercoll component is not loaded");
    use_served(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    duplicates();
    parts();
    groups_and_topologies();
    one_rank();
    between_groups();
    MPI_Comm left_behind = MPI_COMM_NULL;  // as some programs do: MPI_Finalize must cope
    MPI_Comm_dup(MPI_COMM_WORLD, &left_behind);
    use_served(left_behind, "communicator that is never freed");
    test::passed("communicators of all kinds");
    return 0;
}
