// SPDX-License-Identifier: BSD-3-Clause
#include "device_job.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

namespace peercoll::bench {

DeviceJob describe_devices(const DeviceFacts& mine, int ranks) {
    std::vector<DeviceFacts> all(static_cast<std::size_t>(ranks));
    constexpr int bytes = sizeof(DeviceFacts);
    MPI_Allgather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    DeviceJob job;
    std::vector<int> ranks_on;
    for (int rank = 0; rank < ranks; ++rank) {
        const DeviceFacts& facts = all[static_cast<std::size_t>(rank)];
        const auto same = [&](const DeviceFacts& other) { return other.uuid == facts.uuid; };
        const auto found = std::find_if(job.devices.begin(), job.devices.end(), same);
        const auto index = static_cast<std::size_t>(found - job.devices.begin());
        if (found == job.devices.end()) {
            job.devices.push_back(facts);
            job.leaders.push_back(rank);
            ranks_on.push_back(0);
        }
        ++ranks_on[index];
        job.device_of_rank.push_back(static_cast<int>(index));
    }
    job.most_ranks_on_one = *std::max_element(ranks_on.begin(), ranks_on.end());
    return job;
}

std::string DeviceJob::text() const {
    const bool even = most_ranks_on_one * count() == static_cast<int>(device_of_rank.size());
    return fmt::format("{}{}, {}, {}{} rank{} on {}", count() == 1 ? "" : fmt::format("{} x ", count()),
                       devices.front().name.data(), devices.front().driver.data(), even ? "" : "up to ",
                       most_ranks_on_one, most_ranks_on_one == 1 ? "" : "s", count() == 1 ? "it" : "each");
}

}  // namespace peercoll::bench
