// SPDX-License-Identifier: BSD-3-Clause
// Hints that a cache line will be used soon; never wrong, only useful or not.
#pragma once

namespace peercoll {

inline void prefetch_to_read(const void* line) {
    __builtin_prefetch(line, 0);
}

// Fetches the line for this processor alone, so that storing to it later asks no other processor. The compiler's own
// hint gives that only where it may assume a newer processor; those that lack the instruction ignore it.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

}  // namespace peercoll
