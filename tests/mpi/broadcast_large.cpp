// SPDX-License-Identifier: BSD-3-Clause
// One broadcast of more bytes than an int counts: 2049 blocks of 1 MiB.
#include "support.hpp"

#include <cstdint>
#include <vector>

#include <unistd.h>

int main(int argc, char** argv) {
    constexpr int skipped = 77;  // as tests/mpi/CMakeLists.txt says
    constexpr std::size_t block_bytes = std::size_t{1} << 20;
    constexpr int blocks = 2049;
    const test::Mpi mpi(&argc, &argv);
    const auto pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
    int enough = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >
                 (test::size_of(MPI_COMM_WORLD) + 1) * block_bytes * blocks;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (enough == 0) {
        return skipped;
    }
    const test::Totals totals;
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(block_bytes), MPI_BYTE, &block);
    MPI_Type_commit(&block);
    std::vector<std::uint64_t> words(block_bytes * blocks / sizeof(std::uint64_t));
    const int root = 1;
    if (test::rank_of(MPI_COMM_WORLD) == root) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = i * 0x9e3779b97f4a7c15u;
        }
    }
    MPI_Bcast(words.data(), blocks, block, root, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < words.size(); ++i) {
        test::require(words[i] == i * 0x9e3779b97f4a7c15u, "word %zu of %zu is wrong", i, words.size());
    }
    test::require(totals.broadcast_served.read() == 1, "the broadcast was not served");
    MPI_Type_free(&block);
    test::passed("a broadcast of more than 2 GiB");
    return 0;
}
