// SPDX-License-Identifier: BSD-3-Clause
// The flag: written by the last block, after the outputs of all blocks are visible to every processor and device. No
// fence of its own: a release counts for all that was ordered before it, what a barrier or an acquire has shown it of
// other threads included ("cumulativity" of the PTX memory model); a fence more took 0.5 us on an H200.
#pragma once

#include "collectives/reduction/device/kernel/platform.hpp"

namespace peercoll::device {

PEERCOLL_DEVICE void complete(const FoldParameters& p, Position at) {
    if (p.flag == 0) {
        return;
    }
    block_barrier();
    if (at.lane != 0) {
        return;
    }
    if (at.blocks > 1) {
        if (count_up_in_order(p.counter) != at.blocks - 1) {
            return;
        }
        reset_counter(p.counter);
    }
    release_flag(p.flag, p.flag_value);
}

}  // namespace peercoll::device
