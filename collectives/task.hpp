// SPDX-License-Identifier: BSD-3-Clause
// A task is one collective on one rank. Blocking calls, requests and persistent requests all run the same task.
#pragma once

#include <cstdint>

namespace peercoll {

// Pending: nothing could be done, others are awaited. Advanced: something was done, call again at once.
enum class Progress : std::uint8_t { Pending, Advanced, Done, Failed };

class Task {
public:
    Task() = default;
    Task(const Task&) = default;
    Task& operator=(const Task&) = default;
    virtual ~Task() = default;
    // Does what can be done without waiting. Never blocks. Not called again after Done or Failed.
    virtual Progress progress() = 0;
};

}  // namespace peercoll
