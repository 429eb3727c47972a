// SPDX-License-Identifier: BSD-3-Clause
// ChunkShare: which chunks of a message one of several ranks of a node exchanges with other nodes, when they take
// turns.
//
//   2 ranks, 5 chunks:   rank 0: chunks 0 2 4    rank 1: chunks 1 3
//
// The ranks of the same number on all nodes exchange with each other. A message of one chunk is rank 0's.
#pragma once

#include <cstdint>

namespace peercoll {

struct ChunkShare {
    int rank = 0;  // its number in the node; may be `of` or more, and then has no chunks
    int of = 1;    // ranks that take turns

    int owner_of(std::uint64_t chunk) const { return static_cast<int>(chunk % static_cast<std::uint64_t>(of)); }
    bool owns(std::uint64_t chunk) const { return owner_of(chunk) == rank; }
    // How many of the first `chunks` ones are this rank's.
    std::uint64_t count(std::uint64_t chunks) const {
        if (rank >= of || chunks <= static_cast<std::uint64_t>(rank)) return 0;
        return (chunks - static_cast<std::uint64_t>(rank) - 1) / static_cast<std::uint64_t>(of) + 1;
    }
    // The number of this rank's `own`-th chunk.
    std::uint64_t chunk(std::uint64_t own) const {
        return static_cast<std::uint64_t>(rank) + own * static_cast<std::uint64_t>(of);
    }
};

}  // namespace peercoll
