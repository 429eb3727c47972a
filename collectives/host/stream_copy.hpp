// SPDX-License-Identifier: BSD-3-Clause
// Copies for messages that are larger than the caches: into memory that will not be read again soon, and from memory
// that has not been read lately.
#pragma once

#include "collectives/candidates.hpp"

#include <cstddef>

namespace peercoll {

// memcpy with stores that go past the caches: saves reading the destination's lines first, a third of the traffic of a
// large copy. The destination is not in the cache afterwards. Ordered before later stores of this thread.
void stream_copy(void* destination, const void* source, std::size_t bytes);

// The same in pieces: the order is left to one stream_fence() behind the last of them. A fence waits until memory has
// taken everything.
void stream_piece(void* destination, const void* source, std::size_t bytes);
void stream_fence();

// memcpy that asks memory for what lies a little behind the piece, since a piece is too short for the processor to find
// out by itself where it will go on.
void copy_piece_of_many(void* destination, const void* source, std::size_t bytes);

using CopyFunction = void (*)(void* destination, const void* source, std::size_t bytes);
CopyFunction copy_by(Stores stores);

}  // namespace peercoll
