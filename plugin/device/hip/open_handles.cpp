// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/open_handles.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll::hip {

Status OpenHandles::take(Import& import, const std::function<Status(Import&)>& open) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
        if (entry.import.allocation_id == import.allocation_id && entry.import.device == import.device &&
            std::memcmp(&entry.import.handle, &import.handle, sizeof import.handle) == 0) {
            ++entry.users;
            import.address = entry.import.address;
            return {};
        }
    }
    entries_.reserve(entries_.size() + 1);  // so that nothing that is open can get lost
    to_close_.reserve(entries_.size() + 1);
    if (Status status = open(import); !status.ok()) return status;
    entries_.push_back({import, 1});
    return {};
}

void OpenHandles::release(std::uint64_t address, std::int32_t device, const std::function<void(std::uint64_t)>& close) {
    const std::lock_guard lock(mutex_);
    const auto here = [&](const Entry& entry) { return entry.import.address == address; };
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& one) { return here(one) && one.import.device == device; });
    if (entry == entries_.end() || --entry->users > 0) return;
    entries_.erase(entry);
    to_close_.push_back(address);
    if (std::any_of(entries_.begin(), entries_.end(), here)) return;
    for (auto i = std::erase(to_close_, address); i > 0; --i) close(address);
}

bool OpenHandles::find(std::uint64_t address, Import& import) const {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return address >= one.import.address && address - one.import.address < one.import.bytes;
    });
    if (entry == entries_.end()) return false;
    import = entry->import;
    return true;
}

}  // namespace peercoll::hip
