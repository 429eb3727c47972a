// SPDX-License-Identifier: BSD-3-Clause
// Which broadcast algorithm: a pure function of what all ranks know alike.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/candidates.hpp"

#include <cstddef>

namespace peercoll {

struct BroadcastSituation {
    std::size_t bytes = 0;
    int ranks = 2;
    bool groups = false;       // several hwloc groups of ranks
    bool single_copy = false;  // every rank can read every other's memory
    BroadcastAlgorithm forced = BroadcastAlgorithm::Auto;
};

// At least one, never Auto; several where only a trial can tell. A forced algorithm that cannot do it gives the next
// one that can: packets -> staged, grouped -> staged, single_copy -> staged.
Candidates<BroadcastAlgorithm> select_broadcast(const BroadcastSituation& situation);

}  // namespace peercoll
