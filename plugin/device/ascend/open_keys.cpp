// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/open_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll::ascend {

Status OpenKeys::take(Import& import, const std::function<Status(Import&)>& open) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
        if (entry.import.key != import.key || entry.import.device != import.device) continue;
        if (entry.import.bytes != import.bytes)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("a handle says that its allocation has {} bytes: expected {}, as it said before",
                                import.bytes, entry.import.bytes)};
        ++entry.users;
        import.address = entry.import.address;
        return {};
    }
    entries_.reserve(entries_.size() + 1);  // so that nothing that is open can get lost
    if (Status status = open(import); !status.ok()) return status;
    entries_.push_back({import, 1});
    return {};
}

void OpenKeys::release(std::uint64_t address, const std::function<void(const Key&)>& close) {
    const std::lock_guard lock(mutex_);
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.import.address == address; });
    if (entry == entries_.end() || entry->users == 0) return;
    --entry->users;
    const Key key = entry->import.key;
    const auto of_key = [&](const Entry& one) { return one.import.key == key; };
    if (std::any_of(entries_.begin(), entries_.end(), [&](const Entry& one) { return of_key(one) && one.users > 0; }))
        return;
    for (auto i = std::erase_if(entries_, of_key); i > 0; --i) close(key);
}

bool OpenKeys::find(std::uint64_t address, Import& import) const {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return address >= one.import.address && address - one.import.address < one.import.bytes;
    });
    if (entry == entries_.end()) return false;
    import = entry->import;
    return true;
}

}  // namespace peercoll::ascend
