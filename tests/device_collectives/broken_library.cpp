// SPDX-License-Identifier: BSD-3-Clause
// All that is in a library whose name promises a vendor's runtime: as after an installation that went wrong.
extern "C" __attribute__((visibility("default"))) int peercoll_test_broken_library(void) {
    return 0;
}
