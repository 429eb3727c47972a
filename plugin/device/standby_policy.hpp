// SPDX-License-Identifier: BSD-3-Clause
// Whether the kernel of a fold should stay on the device for the next one. It may when folds follow each other faster
// than it would leave. Who then waits for the whole device between two of them waits for the kernel to leave, too, and
// that shows: the next fold comes after it has left. So a kernel that took few folds before it left, or had to be sent
// away for another one, makes the stream do without for a while, twice as long each time; one that took many is
// forgiven.
//
//     fold  fold  fold+stay  (late)  fold x16  fold+stay  (late)  fold x32  fold+stay  taken  taken  taken ...
//
// One for each stream; not thread safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace peercoll {

class StandbyPolicy {
public:
    using Clock = std::chrono::steady_clock;

    // A fold is launched now; should its kernel stay for up to `patience`?
    bool stays(Clock::time_point now, std::chrono::nanoseconds patience) {
        in_time_ = now - last_ < patience ? in_time_ + 1 : 0;
        last_ = now;
        if (without_ > 0) {
            --without_;
            return false;
        }
        return in_time_ >= least_in_time;
    }
    // The kernel that stayed took a fold.
    void taken(Clock::time_point now) {
        last_ = now;
        if (++taken_ >= forgiven_after) next_without_ = least_without;
    }
    // It had left when the next fold came, or was sent away.
    void gone() {
        if (taken_ < worth) {
            in_time_ = 0;
            without_ = next_without_;
            next_without_ = std::min(2 * next_without_, most_without);
        }
        taken_ = 0;
    }

    static constexpr std::uint32_t least_in_time = 2;
    static constexpr std::uint32_t worth = 4;
    static constexpr std::uint32_t least_without = 16;
    static constexpr std::uint32_t most_without = 4096;
    static constexpr std::uint32_t forgiven_after = 64;

private:
    Clock::time_point last_{};
    std::uint32_t in_time_ = 0;  // intervals in a row
    std::uint32_t taken_ = 0;    // by the kernel that is there
    std::uint32_t without_ = 0;
    std::uint32_t next_without_ = least_without;
};

}  // namespace peercoll
