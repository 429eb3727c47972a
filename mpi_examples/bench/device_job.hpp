// SPDX-License-Identifier: BSD-3-Clause
// Which devices the ranks of the job use, and how many ranks each.
#pragma once

#include "mpi_examples/devices/device.hpp"

#include <string>
#include <vector>

namespace peercoll::bench {

using devices::Device;
using devices::DeviceFacts;

struct DeviceJob {
    std::vector<DeviceFacts> devices;  // by their first rank
    std::vector<int> leaders;          // that first rank of each device
    std::vector<int> device_of_rank;   // index into `devices`
    int most_ranks_on_one = 0;

    int count() const { return static_cast<int>(devices.size()); }
    // "2 x NVIDIA H200, CUDA 13.0, 4 ranks on each"
    std::string text() const;
};

// Collective over MPI_COMM_WORLD (by MPI_Allgather), complete on all ranks.
DeviceJob describe_devices(const DeviceFacts& mine, int ranks);

}  // namespace peercoll::bench
