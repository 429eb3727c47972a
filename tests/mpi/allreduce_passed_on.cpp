// SPDX-License-Identifier: BSD-3-Clause
// Reductions that are not peercoll's go to the component below with right results, and are counted: user-defined
// operations, commutative and not, and datatypes made by the user.
#include "support.hpp"

#include <array>
#include <vector>

namespace {

using test::require;

// 2 x 2 matrices modulo 10007: multiplication is associative and not commutative.
using Matrix = std::array<int, 4>;
constexpr int modulus = 10007;

Matrix multiply(const Matrix& a, const Matrix& b) {
    return {(a[0] * b[0] + a[1] * b[2]) % modulus, (a[0] * b[1] + a[1] * b[3]) % modulus,
            (a[2] * b[0] + a[3] * b[2]) % modulus, (a[2] * b[1] + a[3] * b[3]) % modulus};
}

void multiply_op(void* in, void* inout, int* length, MPI_Datatype*) {
    auto* a = static_cast<Matrix*>(in);
    auto* b = static_cast<Matrix*>(inout);
    for (int i = 0; i < *length; ++i) {
        b[i] = multiply(a[i], b[i]);
    }
}

void larger_absolute_op(void* in, void* inout, int* length, MPI_Datatype*) {
    auto* a = static_cast<int*>(in);
    auto* b = static_cast<int*>(inout);
    for (int i = 0; i < *length; ++i) {
        b[i] = std::abs(a[i]) > std::abs(b[i]) ? a[i] : b[i];
    }
}

Matrix matrix_of(int rank, int element) {
    return {rank + 1, element % 13, 2, rank * 3 + element % 7};
}

void non_commutative(MPI_Comm comm) {
    MPI_Datatype matrix = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply_op, 0, &op);
    for (const int count : {1, 50, 3000}) {
        std::vector<Matrix> mine(count), result(count);
        for (int i = 0; i < count; ++i) {
            mine[i] = matrix_of(test::rank_of(comm), i);
        }
        MPI_Allreduce(mine.data(), result.data(), count, matrix, op, comm);
        for (int i = 0; i < count; ++i) {
            Matrix expected = matrix_of(0, i);
            for (int rank = 1; rank < test::size_of(comm); ++rank) {
                expected = multiply(expected, matrix_of(rank, i));
            }
            require(result[i] == expected, "a product of matrices is wrong at element %d of %d", i, count);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
}

void commutative(MPI_Comm comm) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(larger_absolute_op, 1, &op);
    const int size = test::size_of(comm);
    int mine = test::rank_of(comm) % 2 == 0 ? test::rank_of(comm) : -test::rank_of(comm);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, op, comm);
    const int last = size - 1;
    require(mine == (last % 2 == 0 ? last : -last), "a user-defined maximum gave %d of %d ranks", mine, size);
    MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Totals totals;
    require(totals.allreduce_served.exists(), "the peercoll component is not loaded");
    const auto served = totals.allreduce_served.read();
    const auto passed_on = totals.allreduce_passed_on.read();

    non_commutative(MPI_COMM_WORLD);
    commutative(MPI_COMM_WORLD);
    // On a communicator whose first collective is one that is passed on, and on the parent after that one is gone.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    non_commutative(copy);
    commutative(copy);
    MPI_Comm_free(&copy);
    commutative(MPI_COMM_WORLD);

    require(totals.allreduce_passed_on.read() == passed_on + 9, "%llu calls were passed on, not 9",
            totals.allreduce_passed_on.read() - passed_on);
    require(totals.allreduce_served.read() == served, "a user-defined operation was counted as served");

    int one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(one == test::size_of(MPI_COMM_WORLD) && totals.allreduce_served.read() == served + 1,
            "a sum after the user-defined operations was not served");
    test::passed("user-defined operations are passed on");
    return 0;
}
