// SPDX-License-Identifier: BSD-3-Clause
// A task is one collective on one rank: an object with `Progress progress()`. Blocking calls, requests and persistent
// requests all run the same task. progress() does what can be done without waiting and never blocks; it is not called
// again after Done or Failed. No base class: a tiny collective takes less time than a few virtual calls.
#pragma once

#include <cstdint>

namespace peercoll {

// Pending: nothing could be done, others are awaited. Resting: the same, and the answer is microseconds away, as that
// of a device: whoever polls should leave the core's resources to who shares it. Advanced: something was done, call
// again at once.
enum class Progress : std::uint8_t { Pending, Resting, Advanced, Done, Failed };

}  // namespace peercoll
