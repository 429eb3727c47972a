// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include "cuda_device.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace peercoll::bench {

int choose_device(const Settings& settings, int local_rank, int local_ranks, int devices) {
    if (settings.device_number) {
        if (*settings.device_number >= devices) {
            throw std::runtime_error(
                fmt::format("--device {}: this host shows {} devices", *settings.device_number, devices));
        }
        return *settings.device_number;
    }
    if (settings.ranks_per_device == 0) return local_rank % devices;
    const int needed = (local_ranks + settings.ranks_per_device - 1) / settings.ranks_per_device;
    if (needed > devices) {
        throw std::runtime_error(fmt::format("--ranks-per-device {}: {} ranks need {} devices, this host shows {}",
                                             settings.ranks_per_device, local_ranks, needed, devices));
    }
    return local_rank / settings.ranks_per_device;
}

std::unique_ptr<Device> open_device(const Settings& settings, int local_rank, int local_ranks) {
    return std::make_unique<CudaDevice>(settings, local_rank, local_ranks);
}

}  // namespace peercoll::bench
