// SPDX-License-Identifier: BSD-3-Clause
// The flag: written by the last block, after the outputs of all blocks are visible to every processor and device.
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
    system_fence();
    if (at.blocks > 1) {
        if (count_up(p.counter) != at.blocks - 1) {
            return;
        }
        reset_counter(p.counter);
        system_fence();
    }
    release_flag(p.flag, p.flag_value);
}

}  // namespace peercoll::device
