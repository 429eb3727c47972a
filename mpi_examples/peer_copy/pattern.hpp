// SPDX-License-Identifier: BSD-3-Clause
// Bytes that tell where they belong: a word that arrives at the wrong place, or of another transfer, is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace peercoll::peer_copy {

void fill(std::span<std::byte> bytes, std::uint64_t seed);
// Wrong in every byte, so that what never arrives is seen.
void fill_wrong(std::span<std::byte> bytes, std::uint64_t seed);

struct Difference {
    std::size_t wrong = 0;  // bytes
    std::size_t first = 0;  // offset
    std::byte expected{};
    std::byte found{};
};
Difference compare(std::span<const std::byte> bytes, std::uint64_t seed);

}  // namespace peercoll::peer_copy
