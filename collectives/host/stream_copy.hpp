// SPDX-License-Identifier: BSD-3-Clause
// Copies into memory that will not be read again soon.
#pragma once

#include "collectives/candidates.hpp"

#include <cstddef>

namespace peercoll {

// memcpy with stores that go past the caches: saves reading the destination's lines first, a third of the traffic of a
// large copy. The destination is not in the cache afterwards. Ordered before later stores of this thread.
void stream_copy(void* destination, const void* source, std::size_t bytes);

using CopyFunction = void (*)(void* destination, const void* source, std::size_t bytes);
CopyFunction copy_by(Stores stores);

}  // namespace peercoll
