// SPDX-License-Identifier: BSD-3-Clause
// A clock that is read in some 10 ns, to tell whether something was just now; no clock to measure by.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace peercoll {

// Whether only a few microseconds have passed since a past value of cycle_clock(): 8 at most, if the clock is as slow
// as any. A clock that was set back says no. Always no on processors whose clock is not known here.
#if defined(__x86_64__)
inline std::uint64_t cycle_clock() {
    return __rdtsc();
}
// The time stamp counter of any processor of this century counts 1 to 5 billion times a second.
inline bool is_just_now(std::uint64_t then, std::uint64_t now) {
    return now - then < 8'000;
}
#elif defined(__aarch64__)
inline std::uint64_t cycle_clock() {
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
inline bool is_just_now(std::uint64_t then, std::uint64_t now) {
    std::uint64_t per_second = 0;
    asm("mrs %0, cntfrq_el0" : "=r"(per_second));
    return now - then < per_second / 250'000;
}
#else
inline std::uint64_t cycle_clock() {
    return 0;
}
inline bool is_just_now(std::uint64_t, std::uint64_t) {
    return false;
}
#endif

}  // namespace peercoll
