// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives on device memory: many at once and in any order, with datatypes that interleave in the same
// memory, with datatypes and operations that the program frees while they are in use, and on communicators that
// peercoll does not serve, of one rank and between groups.
#include "device_arrays.hpp"

#include <algorithm>
#include <memory>

namespace {

using test::Array;
using test::Place;
using test::require;
using test::Shape;

constexpr int count = 50;

// Two broadcasts that are under way together write the columns of one array: neither may undo what the other did.
void interleaved_columns(const test::Driver& driver, const Shape& gapped, const Shape& ints) {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int last = test::size_of(MPI_COMM_WORLD) - 1;
    for (int round = 0; round < 10; ++round) {
        // The shape's own columns from rank 0, and those beside them from the last rank.
        Array matrix(driver, Place::device, ints, 4 * count);
        test::current_call() = "interleaved columns";
        matrix.fill([&](int e, int) {
            const bool own = e % 2 == 0 ? rank == 0 : rank == last;
            return own ? 1000 * round + e : test::guard;
        });
        MPI_Request requests[2];
        MPI_Ibcast(matrix.address(), count, gapped.type, 0, MPI_COMM_WORLD, &requests[round % 2]);
        MPI_Ibcast(matrix.address() + 1, count, gapped.type, last, MPI_COMM_WORLD, &requests[1 - round % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        matrix.expect([&](int e, int) { return 1000 * round + e; });
    }
}

void many_at_once(const test::Driver& driver, const Shape& ints) {
    constexpr int many = 40;
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    std::vector<std::unique_ptr<Array>> sums;
    std::vector<MPI_Request> requests(many);
    for (int i = 0; i < many; ++i) {
        sums.push_back(std::make_unique<Array>(driver, Place::device, ints, count + i));
        sums[i]->fill([&](int e, int) { return rank + e * i; });
        MPI_Iallreduce(MPI_IN_PLACE, sums[i]->address(), count + i, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    // Waited for from the last to the first; meanwhile a collective that blocks, and one that peercoll serves.
    MPI_Barrier(MPI_COMM_WORLD);
    int one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(one == size, "a sum among many requests is %d", one);
    std::reverse(requests.begin(), requests.end());
    int done = 0;
    while (done == 0) {
        MPI_Testall(many / 2, requests.data(), &done, MPI_STATUSES_IGNORE);
    }
    for (int left = many / 2; left < many; ++left) {
        int index = MPI_UNDEFINED;
        MPI_Waitany(many / 2, requests.data() + many / 2, &index, MPI_STATUS_IGNORE);
        require(index != MPI_UNDEFINED, "a request is missing");
    }
    test::current_call() = "many at once";
    for (int i = 0; i < many; ++i) {
        sums[i]->expect([&](int e, int) { return size * (size - 1) / 2 + size * e * i; });
    }
}

// MPI keeps what a request needs; the program may forget it at once. (Not so for persistent requests of Open MPI 4.1,
// whatever the memory.)
void freed_while_in_use(const test::Driver& driver, const Shape& gapped) {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Type_dup(gapped.type, &type);
    MPI_Op_create(test::add_gapped, 1, &op);
    Array mine(driver, Place::device, gapped, count);
    Array sum(driver, Place::device, gapped, count);
    test::current_call() = "freed while in use";
    mine.fill([&](int e, int k) { return rank * 10 + e + k; });
    sum.fill(test::untouched);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(mine.address(), sum.address(), count, type, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum.expect([&](int e, int k) { return 10 * size * (size - 1) / 2 + size * (e + k); });
}

void one_rank(const test::Driver& driver, const Shape& ints) {
    Array mine(driver, Place::device, ints, count);
    Array result(driver, Place::device, ints, count);
    const auto values = [](int e, int) { return 3 * e + 1; };
    test::current_call() = "MPI_COMM_SELF";
    mine.fill(values);
    result.fill(test::untouched);
    MPI_Allreduce(mine.address(), result.address(), count, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    result.expect(values);
    result.fill(test::untouched);
    MPI_Alltoall(mine.address(), count, MPI_INT, result.address(), count, MPI_INT, MPI_COMM_SELF);
    result.expect(values);
    result.fill(test::untouched);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(mine.address(), count, MPI_INT, result.address(), count, MPI_INT, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    result.expect(values);
    MPI_Reduce_local(mine.address(), result.address(), count, MPI_INT, MPI_SUM);
    result.expect([&](int e, int k) { return 2 * values(e, k); });
}

void between_groups(const test::Driver& driver, const Shape& ints) {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    const int side = rank % 2;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
    const int others = side == 0 ? size / 2 : size - size / 2;
    Array mine(driver, Place::device, ints, count);
    Array result(driver, Place::device, ints, count * others);
    test::current_call() = "between groups";
    const auto number = [](int from, int e) { return 1000 * from + e; };
    mine.fill([&](int e, int) { return number(rank, e); });
    result.fill(test::untouched);
    MPI_Allgather(mine.address(), count, MPI_INT, result.address(), count, MPI_INT, between);
    result.expect([&](int e, int) { return number(2 * (e / count) + 1 - side, e % count); });

    // From rank 0 of the even ranks, the world's rank 0, to all odd ones.
    const int root = side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(mine.address(), count, MPI_INT, root, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mine.expect([&](int e, int) { return number(side == 1 ? 0 : rank, e); });
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Driver driver;
    const test::Total staged("coll_peercoll_staged");
    require(staged.exists(), "the peercoll component is not loaded");
    const test::Shapes shapes;
    interleaved_columns(driver, shapes.all[1], shapes.all[0]);
    many_at_once(driver, shapes.all[0]);
    freed_while_in_use(driver, shapes.all[1]);
    one_rank(driver, shapes.all[0]);
    between_groups(driver, shapes.all[0]);
    const auto expected =
        20 + 40 + 1 + 4 + 1 + (test::rank_of(MPI_COMM_WORLD) % 2 == 1 || test::rank_of(MPI_COMM_WORLD) == 0);
    require(staged.read() == static_cast<unsigned long long>(expected), "staged %llu calls, expected %d", staged.read(),
            expected);
    test::passed("requests of collectives on device memory");
    return 0;
}
