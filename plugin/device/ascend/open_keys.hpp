// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes that is open here. aclrtIpcMemClose() takes the key and not the address, and closes one of
// its openings, whichever that is. So a key is opened once for each device, however often it is imported, and is closed
// when the last of its imports, on whatever device, has gone.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/ascend/acl_types.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace peercoll::ascend {

using Key = std::array<char, key_bytes>;

class OpenKeys {
public:
    struct Import {
        Key key{};
        std::int32_t device = -1;        // it was opened for
        std::int32_t owner_device = -1;  // where the memory is, as this process numbers devices
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
    };

    // Finds an open import with this key and device, or calls `open`, which fills in `address`. One more release()
    // takes it back. A key that is open already must be of as many bytes: INVALID_ARGUMENT.
    Status take(Import& import, const std::function<Status(Import&)>& open);
    // Calls `close` for a key that nobody uses any more, as often as it was opened.
    void release(std::uint64_t address, const std::function<void(const Key&)>& close);
    // Whether `address` lies in an import, and which.
    bool find(std::uint64_t address, Import& import) const;

private:
    struct Entry {
        Import import;
        unsigned users = 0;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace peercoll::ascend
