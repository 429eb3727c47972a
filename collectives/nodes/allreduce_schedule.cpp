// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/allreduce_schedule.hpp"

#include "collectives/nodes/allreduce_direct.hpp"
#include "collectives/nodes/allreduce_doubling.hpp"
#include "collectives/nodes/allreduce_halving.hpp"
#include "collectives/nodes/allreduce_rank_order.hpp"

namespace peercoll {

int AllreduceSchedule::rounds() const {
    switch (algorithm_) {
        case NodeAllreduce::Doubling:
            return nodes_doubling::rounds(share_);
        case NodeAllreduce::Halving:
            return nodes_halving::rounds(share_);
        case NodeAllreduce::Direct:
            return nodes_direct::rounds;
        case NodeAllreduce::RankOrder:
            return nodes_rank_order::rounds;
    }
    return 0;
}

Round AllreduceSchedule::round(int number) const {
    switch (algorithm_) {
        case NodeAllreduce::Doubling:
            return nodes_doubling::round(share_, number);
        case NodeAllreduce::Halving:
            return nodes_halving::round(share_, number);
        case NodeAllreduce::Direct:
            return nodes_direct::round(share_, number);
        case NodeAllreduce::RankOrder:
            return nodes_rank_order::round(share_, number);
    }
    return {};
}

std::size_t AllreduceSchedule::scratch() const {
    switch (algorithm_) {
        case NodeAllreduce::Doubling:
            return nodes_doubling::scratch(share_);
        case NodeAllreduce::Halving:
            return nodes_halving::scratch(share_);
        case NodeAllreduce::Direct:
            return nodes_direct::scratch(share_);
        case NodeAllreduce::RankOrder:
            return nodes_rank_order::scratch(share_);
    }
    return 0;
}

}  // namespace peercoll
