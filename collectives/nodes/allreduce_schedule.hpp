// SPDX-License-Identifier: BSD-3-Clause
// The schedules of allreduce between nodes behind one face.
#pragma once

#include "collectives/nodes/rounds.hpp"
#include "collectives/nodes/select.hpp"

#include <cstddef>

namespace peercoll {

class AllreduceSchedule {
public:
    AllreduceSchedule(NodeAllreduce algorithm, const NodeShare& share) : algorithm_(algorithm), share_(share) {}

    int nodes() const { return share_.nodes; }
    // The same on all nodes; a node may have nothing to do in one.
    int rounds() const;
    Round round(int number) const;
    // Elements of Scratch.
    std::size_t scratch() const;

private:
    NodeAllreduce algorithm_;
    NodeShare share_;
};

}  // namespace peercoll
