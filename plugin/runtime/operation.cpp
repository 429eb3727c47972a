// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/operation.hpp"

#include "collectives/allreduce/select.hpp"
#include "collectives/broadcast/select.hpp"

namespace peercoll {

Operation::Operation(HostTeam& team, const Agreed& agreed, const Call& call) {
    if (call.kind == PEERCOLL_ALLREDUCE)
        choose_allreduce(team, agreed, call);
    else
        choose_broadcast(team, agreed, call);
}

void Operation::choose_allreduce(HostTeam& team, const Agreed& agreed, const Call& call) {
    const ReductionPlan& plan = call.commutative || team.plan().keeps_rank_order() ? team.plan() : agreed.rank_order;
    const AllreduceArguments arguments{call.source, call.destination, call.count, call.element_bytes, call.fold, &plan};
    const AllreduceAlgorithm algorithm =
        select_allreduce({arguments.bytes(), team.size(), AllreduceGrouped::takes(team, plan),
                          AllreduceSingleCopy::takes(team), agreed.allreduce});
    algorithm_ = static_cast<std::size_t>(algorithm);
    switch (algorithm) {
        case AllreduceAlgorithm::Packets:
            task_.emplace<AllreducePackets>(team, arguments);
            break;
        case AllreduceAlgorithm::Slots:
            task_.emplace<AllreduceSlots>(team, arguments);
            break;
        case AllreduceAlgorithm::Grouped:
            task_.emplace<AllreduceGrouped>(team, arguments);
            break;
        case AllreduceAlgorithm::SingleCopy:
            task_.emplace<AllreduceSingleCopy>(team, arguments);
            break;
        case AllreduceAlgorithm::Auto:
        case AllreduceAlgorithm::Staged:
            task_.emplace<AllreduceStaged>(team, arguments);
            break;
    }
}

void Operation::choose_broadcast(HostTeam& team, const Agreed& agreed, const Call& call) {
    const BroadcastAlgorithm algorithm = select_broadcast({call.broadcast.bytes, team.size(), team.groups().size() > 1,
                                                           BroadcastSingleCopy::takes(team), agreed.broadcast});
    algorithm_ = static_cast<std::size_t>(algorithm);
    switch (algorithm) {
        case BroadcastAlgorithm::Packets:
            task_.emplace<BroadcastPackets>(team, call.broadcast);
            break;
        case BroadcastAlgorithm::SingleCopy:
            task_.emplace<BroadcastSingleCopy>(team, call.broadcast);
            break;
        case BroadcastAlgorithm::Grouped:
            task_.emplace<BroadcastStaged>(team, call.broadcast, BroadcastStaged::Shape::Grouped);
            break;
        case BroadcastAlgorithm::Auto:
        case BroadcastAlgorithm::Staged:
            task_.emplace<BroadcastStaged>(team, call.broadcast, BroadcastStaged::Shape::Flat);
            break;
    }
}

}  // namespace peercoll
