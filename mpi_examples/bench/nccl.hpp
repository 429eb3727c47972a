// SPDX-License-Identifier: BSD-3-Clause
// NCCL as a rival: the library the machine has, found when the benchmark runs, one rank for each device.
#pragma once

#include "collective.hpp"
#include "device_job.hpp"
#include "mpi_examples/devices/device.hpp"

#include <memory>

namespace peercoll::bench {

// Collective over MPI_COMM_WORLD. Throws std::runtime_error, with a sentence, where NCCL is not there or does not take
// these ranks, types or operations.
std::unique_ptr<Rival> make_nccl(const Settings& settings, Device& device, const DeviceJob& job, int rank, int ranks);

}  // namespace peercoll::bench
