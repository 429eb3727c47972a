// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include "cuda_device.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace peercoll::devices {

int choose_device(const Choice& choice, const LocalRank& local, int devices) {
    if (devices < 1) throw std::runtime_error("this process sees no device");
    if (choice.device) {
        if (*choice.device >= devices) {
            throw std::runtime_error(
                fmt::format("device {} was asked for, and this process sees {}", *choice.device, devices));
        }
        return *choice.device;
    }
    if (choice.ranks_per_device == 0) return local.rank % devices;
    const int needed = (local.ranks + choice.ranks_per_device - 1) / choice.ranks_per_device;
    if (needed > devices) {
        throw std::runtime_error(fmt::format("{} ranks on each device: {} ranks need {} devices, this process sees {}",
                                             choice.ranks_per_device, local.ranks, needed, devices));
    }
    return local.rank / choice.ranks_per_device;
}

std::unique_ptr<Device> open_device(Vendor vendor, const Choice& choice, const LocalRank& local) {
    switch (vendor) {
        case Vendor::Cuda:
            break;
    }
    return std::make_unique<CudaDevice>(choice, local);
}

}  // namespace peercoll::devices
