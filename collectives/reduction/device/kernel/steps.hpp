// SPDX-License-Identifier: BSD-3-Clause
// Which steps (accesses between the edges) a block makes: tiles of p.tile neighbouring steps, taken by the blocks in
// turn.
//
//   block   0    1    2    0    1    2    0
//         [tile|tile|tile|tile|tile|tile|rest]
//
// Tiles of tens of KiB where pages are small and found slowly: if all blocks stood in the same page, as they would with
// neighbouring steps in neighbouring blocks, all would wait at the next one.
#pragma once

#include "collectives/reduction/device/kernel/platform.hpp"

namespace peercoll::device {

struct Steps {
    unsigned long long begin;
    unsigned long long end;
};

PEERCOLL_DEVICE Steps steps_from(const FoldParameters& p, unsigned long long begin) {
    const unsigned long long end = begin + p.tile;
    return {begin, end < p.steps ? end : p.steps};
}
PEERCOLL_DEVICE Steps first_steps(const FoldParameters& p, Position at) {
    return steps_from(p, at.block * p.tile);
}
PEERCOLL_DEVICE void go_on(const FoldParameters& p, Position at, Steps& steps) {
    steps = steps_from(p, steps.begin + at.blocks * p.tile);
}

}  // namespace peercoll::device
