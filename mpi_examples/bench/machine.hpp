// SPDX-License-Identifier: BSD-3-Clause
// Facts about where a measurement was made. No host names: reports are passed around.
#pragma once

#include <cstddef>
#include <string>

namespace peercoll::bench {

struct Machine {
    std::string cpu_model;
    int cpus_online = 0;
    int cpus_of_rank_0 = 0;  // that its binding allows
    int ranks = 0;
    int hosts = 0;
    std::string kernel;
    std::string mpi_library;
    std::string date;  // UTC
    std::size_t last_level_cache_bytes = 0;
};

// Collective over MPI_COMM_WORLD (by MPI_Gather), complete on rank 0.
Machine describe_machine(int rank, int ranks);

}  // namespace peercoll::bench
