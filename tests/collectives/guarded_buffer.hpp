// SPDX-License-Identifier: BSD-3-Clause
// Memory with guard bytes around it, at any offset from an aligned address.
#pragma once

#include "tests/collectives/reference.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace peercoll::test {

class GuardedBuffer {
public:
    static constexpr std::size_t guard_bytes = 64;
    static constexpr std::byte guard{0xA5};

    explicit GuardedBuffer(std::size_t capacity)
        : memory_(capacity + 3 * guard_bytes) {}  // a guard on each side, and room to shift by one more

    // Room for `bytes`, `offset` (less than 64) bytes from a 64-byte boundary, with fresh guards.
    std::byte* place(std::size_t bytes, std::size_t offset) {
        begin_ = guard_bytes + offset;
        bytes_ = bytes;
        std::fill_n(memory_.data() + begin_ - guard_bytes, guard_bytes, guard);
        std::fill_n(memory_.data() + begin_ + bytes, guard_bytes, guard);
        return data();
    }
    std::byte* data() { return memory_.data() + begin_; }

    bool guards_are_whole() const {
        const auto whole = [](const std::byte* from) {
            return std::all_of(from, from + guard_bytes, [](std::byte b) { return b == guard; });
        };
        return whole(memory_.data() + begin_ - guard_bytes) && whole(memory_.data() + begin_ + bytes_);
    }

private:
    Elements memory_;
    std::size_t begin_ = guard_bytes;
    std::size_t bytes_ = 0;
};

}  // namespace peercoll::test
