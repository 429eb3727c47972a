// SPDX-License-Identifier: BSD-3-Clause
// What this process has of HIP while the backend is open: the runtime's functions, its devices, and what we took from
// them. One object, made by open() and taken apart by close(); nothing of it runs when the process ends without
// close(), because the runtime may be gone by then.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/errors.hpp"
#include "plugin/device/hip/hip_api.hpp"
#include "plugin/device/hip/kernels.hpp"
#include "plugin/device/hip/last_error.hpp"
#include "plugin/device/hip/open_handles.hpp"
#include "plugin/device/hip/versions.hpp"

#include <peercoll/device.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::hip {

struct Device {
    int32_t ordinal = 0;
    // What does not change; `active` and `reductions` are filled in when they are asked for.
    peercoll_device_info_t info{};
    std::string target;  // "gfx90a:sramecc+:xnack-", for the compiler
    int multiprocessors = 1;
    bool kernels_release = false;  // kernels_can_release()
    bool writes_flags = false;     // hipStreamWriteValue64

    std::atomic<bool> memory_seen{false};  // the process has handed us memory of this device

    std::mutex mutex;                  // what follows
    std::vector<void*> counter_slabs;  // device memory of the counters below
    std::vector<void*> free_counters;  // a zero word for each stream that folds
    DeviceKernels kernels;             // has a mutex of its own
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
    std::unique_ptr<HipLibrary> library;
    HipFunctions hip{};
    Version version;
    std::string version_text;
    std::uint64_t generation = 0;  // another one after each close()
    std::vector<std::unique_ptr<Device>> devices;
    OpenHandles imports;  // has a mutex of its own

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
        return keeping_last_error(present->hip, [&] { return work(*present); });
    });
}

}  // namespace peercoll::hip
