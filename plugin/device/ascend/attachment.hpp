// SPDX-License-Identifier: BSD-3-Clause
// What this process has of ACL while the backend is open: the runtime's functions, its devices, and what we took from
// them. One object, made by open() and taken apart by close(); nothing of it runs when the process ends without
// close(), because the runtime may be gone by then.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/ascend/acl_api.hpp"
#include "plugin/device/ascend/allocations.hpp"
#include "plugin/device/ascend/errors.hpp"
#include "plugin/device/ascend/open_keys.hpp"
#include "plugin/device/ascend/settings.hpp"

#include <peercoll/device.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::ascend {

struct Device {
    int32_t ordinal = 0;
    peercoll_device_info_t info{};  // what does not change; `active` and `reductions` are filled in when asked for
    bool shares = true;             // has peer access and IPC: all but the 310B

    std::atomic<bool> memory_seen{false};  // the process has handed us memory of this device
    // The context that all threads of the process share for this device, once we hold it.
    std::atomic<AclContext> context{nullptr};

    std::mutex mutex;  // for what follows
    // Whether a reduction gives the bits of the host's kernels: 0 not yet known, 1 yes, -1 no.
    std::array<std::array<std::int8_t, PEERCOLL_OP_END>, PEERCOLL_DATATYPE_END> reduces{};
};

struct Attachment {
    std::unique_ptr<AclLibrary> library;
    AclFunctions acl{};
    Settings settings;
    std::string version_text;
    std::uint64_t generation = 0;  // another one after each close()
    std::vector<std::unique_ptr<Device>> devices;
    OpenKeys imports;         // has a mutex of its own
    Allocations allocations;  // the same

    std::mutex starting;           // for what follows, and for making devices' contexts
    bool holds_reference = false;  // to an initialised ACL

    std::mutex mutex;                                  // for what follows
    std::map<std::pair<int32_t, int32_t>, int> peers;  // pairs (lower, higher) that we have enabled, and how often
    std::map<const void*, int> registered;             // host memory, and how often
    std::map<const void*, std::size_t> pinned;         // host memory of our own, and its size

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

}  // namespace peercoll::ascend
