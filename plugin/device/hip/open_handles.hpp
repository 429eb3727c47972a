// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes that is open here. What happens when a handle is opened twice differs between releases (the
// same address and a count, the same address without one, an error), so each is opened once for each device, however
// often it is imported, and is closed with its last import.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_api.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace peercoll::hip {

class OpenHandles {
public:
    struct Import {
        HipIpcHandle handle{};
        std::uint64_t allocation_id = 0;  // the owner's, so that no handle stands for a later allocation
        std::int32_t device = -1;         // it was opened for
        std::int32_t owner_device = -1;   // where the memory is, as this process numbers devices
        std::uint64_t address = 0;        // what the handle's address is here
        std::uint64_t bytes = 0;
    };

    // Finds an open import with this handle, allocation and device, or calls `open`, which fills in `address`. One more
    // release() takes it back.
    Status take(Import& import, const std::function<Status(Import&)>& open);
    // Calls `close` for an address that nobody uses any more, as often as it was opened.
    void release(std::uint64_t address, std::int32_t device, const std::function<void(std::uint64_t)>& close);
    // Whether `address` lies in an import, and which.
    bool find(std::uint64_t address, Import& import) const;

private:
    struct Entry {
        Import import;
        unsigned users = 0;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
    // Opened for one device and for another at the same address: it stays until both are done.
    std::vector<std::uint64_t> to_close_;
};

}  // namespace peercoll::hip
