// SPDX-License-Identifier: BSD-3-Clause
// A buffer somewhere in a piece of memory, with guard bytes on both sides that nobody may change.
#pragma once

#include "tests/device_collectives/test_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace peercoll::test {

class GuardedRegion {
public:
    static constexpr std::size_t guard_bytes = 64;
    static constexpr std::byte guard{0xA5};
    static constexpr std::byte stale{0x5A};  // what an earlier call left must not pass for a result

    // `bytes` bytes at `begin` (not less than guard_bytes) of `memory`, filled with `content`, or stale if it is null.
    GuardedRegion(const TestMemory& memory, std::size_t begin, std::size_t bytes, const std::byte* content)
        : memory_(&memory), begin_(begin), bytes_(bytes), image_(bytes + 2 * guard_bytes, guard) {
        if (content == nullptr) {
            std::fill_n(image_.begin() + guard_bytes, bytes, stale);
        } else if (bytes > 0) {
            std::memcpy(image_.data() + guard_bytes, content, bytes);
        }
        memory.write(begin - guard_bytes, image_.data(), image_.size());
    }

    std::byte* address() const { return memory_->address() + begin_; }
    std::size_t end() const { return begin_ + bytes_ + guard_bytes; }

    // Reads it back.
    void fetch() { memory_->read(begin_ - guard_bytes, image_.data(), image_.size()); }
    const std::byte* content() const { return image_.data() + guard_bytes; }
    bool guards_are_whole() const {
        const auto whole = [](const std::byte* from) {
            return std::all_of(from, from + guard_bytes, [](std::byte one) { return one == guard; });
        };
        return whole(image_.data()) && whole(image_.data() + guard_bytes + bytes_);
    }

private:
    const TestMemory* memory_;
    std::size_t begin_;
    std::size_t bytes_;
    std::vector<std::byte> image_;
};

}  // namespace peercoll::test
