// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives on device memory, on a line of ranks whose ends have one neighbor only: what belongs to the
// missing neighbor stays as it is. The halves of MPI_Neighbor_alltoallw are in two allocations, named by their absolute
// addresses.
#include "device_arrays.hpp"

namespace {

using test::Array;
using test::Form;
using test::Place;
using test::require;
using test::Shape;

constexpr int count = 21;

struct Line {
    const test::Driver& driver;
    const Shape& shape;
    Form form;
    Place place;
    MPI_Comm comm;
    int rank;
    int size;
    const test::Total& staged;

    // Rank of the neighbor before (0) and behind (1); -1 beyond the ends.
    int neighbor(int side) const { return side == 0 ? rank - 1 : rank + 1 < size ? rank + 1 : -1; }
    Array array(int elements) const { return {driver, place, shape, elements}; }
    void run(const char* what, const test::Forms& forms, const std::function<void()>& prepare,
             const std::function<void()>& check) const {
        test::current_call() = std::string(test::name_of(form)) + " neighbor " + what + " on the " +
                               (place == Place::device ? "device, " : "host, ") + shape.name;
        const auto before = staged.read();
        test::run(form, forms, prepare, check);
        require(staged.read() - before == (place == Place::device ? 1 : 0), "%s: staged %llu times",
                test::current_call().c_str(), staged.read() - before);
    }
};

// The datum `k` of element `e` that `from` sends to its neighbor before (0) or behind (1) it.
int number(int from, int side, int e, int k) {
    return from * 100000 + side * 10000 + e * 4 + k;
}

// What a rank receives in the block of a side: that neighbor's block for the other side; or nothing.
int received(const Line& line, int side, int e, int k) {
    const int from = line.neighbor(side);
    return from < 0 ? test::guard : number(from, 1 - side, e, k);
}

void allgather(const Line& line) {
    Array mine = line.array(count);
    Array both = line.array(2 * count);
    line.run(
        "allgather",
        TEST_FORMS(Neighbor_allgather, Ineighbor_allgather, mine.address(), count, line.shape.type, both.address(),
                   count, line.shape.type, line.comm),
        [&] {
            mine.fill([&](int e, int k) { return number(line.rank, 0, e, k); });
            both.fill(test::untouched);
        },
        [&] {
            both.expect([&](int e, int k) {
                const int from = line.neighbor(e / count);
                return from < 0 ? test::guard : number(from, 0, e % count, k);
            });
        });
}

void allgatherv(const Line& line) {
    const int counts[] = {count, count};
    const int displacements[] = {count + 3, 0};  // the second block first, then three elements that are nobody's
    Array mine = line.array(count);
    Array both = line.array(2 * count + 3);
    line.run(
        "allgatherv",
        TEST_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, mine.address(), count, line.shape.type, both.address(),
                   counts, displacements, line.shape.type, line.comm),
        [&] {
            mine.fill([&](int e, int k) { return number(line.rank, 0, e, k); });
            both.fill(test::untouched);
        },
        [&] {
            both.expect([&](int e, int k) {
                const int side = e >= count + 3 ? 0 : 1;
                const int from = line.neighbor(side);
                const bool between = e >= count && e < count + 3;
                return from < 0 || between ? test::guard : number(from, 0, e - displacements[side], k);
            });
        });
}

void alltoall(const Line& line) {
    Array outgoing = line.array(2 * count);
    Array incoming = line.array(2 * count);
    line.run(
        "alltoall",
        TEST_FORMS(Neighbor_alltoall, Ineighbor_alltoall, outgoing.address(), count, line.shape.type,
                   incoming.address(), count, line.shape.type, line.comm),
        [&] {
            outgoing.fill([&](int e, int k) { return number(line.rank, e / count, e % count, k); });
            incoming.fill(test::untouched);
        },
        [&] { incoming.expect([&](int e, int k) { return received(line, e / count, e % count, k); }); });
}

void alltoallv(const Line& line) {
    const int counts[] = {count, count};
    const int displacements[] = {0, count};
    Array outgoing = line.array(2 * count);
    Array incoming = line.array(2 * count);
    line.run(
        "alltoallv",
        TEST_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, outgoing.address(), counts, displacements, line.shape.type,
                   incoming.address(), counts, displacements, line.shape.type, line.comm),
        [&] {
            outgoing.fill([&](int e, int k) { return number(line.rank, e / count, e % count, k); });
            incoming.fill(test::untouched);
        },
        [&] { incoming.expect([&](int e, int k) { return received(line, e / count, e % count, k); }); });
}

void alltoallw(const Line& line) {
    Array outgoing[] = {line.array(count), line.array(count)};
    Array incoming[] = {line.array(count), line.array(count)};
    const int counts[] = {count, count};
    const MPI_Datatype types[] = {line.shape.type, line.shape.type};
    MPI_Aint from[2];
    MPI_Aint to[2];
    for (int side = 0; side < 2; ++side) {
        MPI_Get_address(outgoing[side].address(), &from[side]);
        MPI_Get_address(incoming[side].address(), &to[side]);
    }
    line.run(
        "alltoallw",
        TEST_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to,
                   types, line.comm),
        [&] {
            for (int side = 0; side < 2; ++side) {
                outgoing[side].fill([&](int e, int k) { return number(line.rank, side, e, k); });
                incoming[side].fill(test::untouched);
            }
        },
        [&] {
            for (int side = 0; side < 2; ++side) {
                incoming[side].expect([&](int e, int k) { return received(line, side, e, k); });
            }
        });
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Driver driver;
    const test::Total staged("coll_peercoll_staged");
    require(staged.exists(), "the peercoll component is not loaded");
    const test::Shapes shapes;
    const int size = test::size_of(MPI_COMM_WORLD);
    const int is_ring = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &comm);
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
        for (const Shape& shape : shapes.all) {
            for (const Place place : {Place::host, Place::device}) {
                const Line line{driver, shape, form, place, comm, test::rank_of(comm), size, staged};
                for (const auto collective : {allgather, allgatherv, alltoall, alltoallv, alltoallw}) {
                    collective(line);
                }
            }
        }
    }
    MPI_Comm_free(&comm);
    test::passed("neighborhood collectives on device memory are staged");
    return 0;
}
