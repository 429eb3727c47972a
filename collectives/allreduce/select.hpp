// SPDX-License-Identifier: BSD-3-Clause
// Which allreduce algorithm: a pure function of what all ranks know alike.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/candidates.hpp"

#include <cstddef>

namespace peercoll {

struct AllreduceSituation {
    std::size_t bytes = 0;
    int ranks = 2;
    bool groups = false;       // several hwloc groups, and the plan's blocks are the groups
    bool single_copy = false;  // every rank can read every other's memory
    AllreduceAlgorithm forced = AllreduceAlgorithm::Auto;
};

// At least one, never Auto; several where only a trial can tell. A forced algorithm that cannot do it gives the next
// one that can: packets -> slots, grouped -> staged, single_copy -> staged.
Candidates<AllreduceAlgorithm> select_allreduce(const AllreduceSituation& situation);

}  // namespace peercoll
