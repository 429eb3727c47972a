// SPDX-License-Identifier: BSD-3-Clause
// What this process has of CUDA while the backend is open: the driver's functions, its devices, and what we took from
// them. One object, made by open() and taken apart by close(); nothing of it runs when the process ends without
// close(), because the driver may be gone by then.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/cuda/driver_api.hpp"
#include "plugin/device/cuda/errors.hpp"
#include "plugin/device/cuda/kernels.hpp"

#include <peercoll/device.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::cuda {

struct Device {
    CuDevice handle = 0;
    int32_t ordinal = 0;
    // What does not change; `active` and `reductions` are filled in when they are asked for.
    peercoll_device_info_t info{};
    int major = 0;  // of the compute capability
    int minor = 0;
    int multiprocessors = 1;
    bool writes_flags = false;  // cuStreamWriteValue64

    std::atomic<CuContext> context{nullptr};  // the primary context, retained
    std::atomic<bool> memory_seen{false};     // the process has handed us memory of this device

    std::mutex mutex;                      // what follows
    std::vector<CuAddress> counter_slabs;  // device memory of the counters below
    std::vector<CuAddress> free_counters;  // a zero word for each stream that folds
    DeviceKernels kernels;                 // has a mutex of its own
};

struct PeerAccess {
    int count = 0;
    bool ours = false;  // enabled by us, so that we disable it
};

struct RegisteredHost {
    int count = 0;
    bool ours = false;
};

struct Attachment {
    std::unique_ptr<DriverLibrary> library;
    DriverFunctions driver{};
    int version = 0;  // 13000: CUDA 13.0
    std::string version_text;
    std::uint64_t generation = 0;     // another one after each close()
    unsigned pointer_attributes = 0;  // how many of classify()'s attributes the driver knows
    std::vector<std::unique_ptr<Device>> devices;

    std::mutex mutex;  // what follows
    std::map<std::pair<int32_t, int32_t>, PeerAccess> peers;
    std::map<const void*, RegisteredHost> registered;

    // Null if there is no such device.
    Device* device(int32_t ordinal) const;
};

// The present one; null before open() and after close().
Attachment* attachment();

peercoll_status_t open(peercoll_reason_t* reason);
void close();

Status no_attachment();
Status no_device(const Attachment& attachment, int32_t ordinal);

// Calls `work` with the attachment, as a function of the interface.
template <typename Work>
peercoll_status_t attached(peercoll_reason_t* reason, Work work) noexcept {
    return answer(reason, [&]() -> Status {
        Attachment* const present = attachment();
        if (present == nullptr) return no_attachment();
        return work(*present);
    });
}

}  // namespace peercoll::cuda
