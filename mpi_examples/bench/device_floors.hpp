// SPDX-License-Identifier: BSD-3-Clause
// What the devices of the job can do, measured in the same run as the collectives: the floors that they are compared
// with.
//
//   launch         an empty kernel launched and waited for, by rank 0 while nobody else uses its device
//   launch after   the same right after the other ranks of that device have used it: a change of process on the device,
//   others         which an application between whose steps all ranks compute pays, whoever does the collective
//   copy           bytes read and written per second by a copy inside rank 0's device, the best of several
//   link           bytes per second that the first device writes to the second, nothing else running
//   ring           the same while every device writes to the next one: the slowest device's
#pragma once

#include "device_job.hpp"
#include "settings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace peercoll::bench {

struct DeviceFloors {
    std::optional<double> launch_us;
    std::optional<double> launch_after_others_us;
    std::optional<double> copy_GBs;
    std::optional<double> link_GBs;
    std::optional<double> ring_GBs;
    std::vector<std::string> missing;  // why something could not be measured, a sentence each
};

// Collective over MPI_COMM_WORLD, complete on rank 0. `copy_bytes`: the size of the copies.
DeviceFloors measure_device_floors(Device& device, const DeviceJob& job, int rank, int ranks, std::size_t copy_bytes);

// The least bytes that memory of the device must move, read and written together, for a collective between `ranks` of
// its ranks.
double least_traffic(Subject subject, std::size_t bytes, int ranks);

}  // namespace peercoll::bench
