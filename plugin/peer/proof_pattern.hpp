// SPDX-License-Identifier: BSD-3-Clause
// What the proof of a path writes and expects: where it lies in the owner's buffer, and which bytes. Both ends compute
// it from the owner's seed.
//
//   owner's buffer:   word | trial 0 | trial 1 | ...
//   one trial:        for the small and the large size: written by a kernel | written by a copy | to be read
//
// The executor's own buffer is one trial: what it stores, and in the last regions what its kernels have read; behind it
// for each size what its copies have read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace peercoll::proof {

inline constexpr std::size_t word_bytes = 256;  // the word itself, and what keeps the rest aligned
inline constexpr std::array<std::size_t, 2> sizes{4096, 1 << 20};

// Who writes a region, and how it is checked.
enum class Use : std::uint8_t { KernelStores, CopyStores, Reads };
inline constexpr std::array<Use, 3> uses{Use::KernelStores, Use::CopyStores, Use::Reads};

struct Region {
    Use use = Use::Reads;
    std::size_t offset = 0;  // in the trial
    std::size_t bytes = 0;
    std::size_t copied = 0;  // of Reads: offset in the executor's buffer of what a copy has read
};

constexpr std::array<Region, uses.size() * sizes.size()> make_regions() {
    std::array<Region, uses.size() * sizes.size()> all{};
    std::size_t offset = 0;
    std::size_t n = 0;
    for (const std::size_t bytes : sizes)
        for (const Use use : uses) {
            all[n++] = {use, offset, bytes, 0};
            offset += bytes;
        }
    for (Region& region : all)
        if (region.use == Use::Reads) {
            region.copied = offset;
            offset += region.bytes;
        }
    return all;
}
inline constexpr auto regions = make_regions();
inline constexpr std::size_t trial_bytes = regions.back().offset + regions.back().bytes;
inline constexpr std::size_t executor_bytes = regions.back().copied + regions.back().bytes;

constexpr std::size_t trial_offset(std::size_t trial) {
    return word_bytes + trial * trial_bytes;
}
constexpr std::size_t buffer_bytes(std::size_t trials) {
    return trial_offset(trials);
}

// Bytes that depend on seed and place; another seed differs in nearly every byte.
inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof seed) {
        seed += 0x9e3779b97f4a7c15U;
        std::uint64_t word = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9U;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
        word ^= word >> 31;
        std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
    }
}

inline std::size_t differing(std::span<const std::byte> bytes, std::uint64_t seed) {
    std::array<std::byte, 4096> expected{};
    std::size_t wrong = 0;
    // Pieces of a whole number of words, each with the seed it starts from.
    for (std::size_t at = 0; at < bytes.size(); at += expected.size()) {
        const std::size_t n = std::min(expected.size(), bytes.size() - at);
        fill(std::span(expected).first(n), seed + at / sizeof seed * 0x9e3779b97f4a7c15U);
        if (std::memcmp(expected.data(), bytes.data() + at, n) == 0) continue;
        for (std::size_t i = 0; i < n; ++i) wrong += bytes[at + i] != expected[i] ? 1 : 0;
    }
    return wrong;
}

// What lies there before: wrong in every byte.
inline void fill_wrong(std::span<std::byte> bytes, std::uint64_t seed) {
    fill(bytes, seed);
    for (std::byte& byte : bytes) byte = ~byte;
}

// The seed of one region of one trial.
constexpr std::uint64_t region_seed(std::uint64_t seed, std::size_t trial, std::size_t region) {
    return seed ^ (trial * regions.size() + region + 1) * 0xd6e8feb86659fd93U;
}
constexpr std::uint64_t word_of(std::uint64_t seed) {
    return seed * 0xff51afd7ed558ccdU + 1;
}

}  // namespace peercoll::proof
