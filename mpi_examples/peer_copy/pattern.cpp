// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_examples/peer_copy/pattern.hpp"

namespace peercoll::peer_copy {

namespace {

// Multiplying by an odd number and folding the upper half into the lower: neighbours differ in about half of their
// bits.
std::byte expected_at(std::size_t offset, std::uint64_t seed) {
    std::uint64_t word = (offset / sizeof(std::uint64_t) + 1 + (seed << 40U)) * 0x9e3779b97f4a7c15U;
    word ^= word >> 32U;
    word *= 0xd6e8feb86659fd93U;
    word ^= word >> 32U;
    return static_cast<std::byte>(word >> (8 * (offset % sizeof word)));
}

}  // namespace

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t offset = 0; offset < bytes.size(); ++offset) bytes[offset] = expected_at(offset, seed);
}

void fill_wrong(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t offset = 0; offset < bytes.size(); ++offset) bytes[offset] = ~expected_at(offset, seed);
}

Difference compare(std::span<const std::byte> bytes, std::uint64_t seed) {
    Difference difference;
    for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
        const std::byte expected = expected_at(offset, seed);
        if (bytes[offset] == expected) continue;
        if (difference.wrong == 0) difference = {0, offset, expected, bytes[offset]};
        ++difference.wrong;
    }
    return difference;
}

}  // namespace peercoll::peer_copy
