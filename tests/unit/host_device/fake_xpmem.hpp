// SPDX-License-Identifier: BSD-3-Clause
// A libxpmem.so.0 without its kernel module. What it can attach is memory that the test has put into a memfd and named
// here before it forks; pages outside it are holes that fault, as in a real attachment. Strict: a call with arguments
// that the real library would refuse fails, and everything is counted.
#pragma once

#include <cstddef>

#define FAKE_XPMEM_EXPORT __attribute__((visibility("default")))

namespace peercoll::test {

struct FakeXpmemCounts {
    int made = 0;
    int permits = 0;           // in force
    int attached = 0;          // in force
    int most_attached = 0;     // at the same time
    int attach_calls = 0;      // that succeeded
    int wrong_calls = 0;       // of any function
    int attached_permits = 0;  // permits released while something was attached through them
};

// Says that the owner of every segment has `bytes` of the file `fd` mapped at `address`.
FAKE_XPMEM_EXPORT void fake_xpmem_share(void* address, std::size_t bytes, int fd);
// As if the module were not loaded: every xpmem_make fails from now on.
FAKE_XPMEM_EXPORT void fake_xpmem_unload_module();
// Of this process since it began, or was forked.
FAKE_XPMEM_EXPORT FakeXpmemCounts fake_xpmem_counts();

}  // namespace peercoll::test
