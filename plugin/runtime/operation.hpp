// SPDX-License-Identifier: BSD-3-Clause
// Operation: a call with the algorithm that was chosen for it. The one place that knows all algorithms.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/allreduce/grouped.hpp"
#include "collectives/allreduce/packets.hpp"
#include "collectives/allreduce/single_copy.hpp"
#include "collectives/allreduce/slots.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/broadcast/packets.hpp"
#include "collectives/broadcast/single_copy.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/host/host_team.hpp"
#include "plugin/runtime/call.hpp"

#include <variant>

namespace peercoll {

// What the communicator's ranks agreed on for choosing.
struct Agreed {
    AllreduceAlgorithm allreduce = AllreduceAlgorithm::Auto;  // forced, or Auto
    BroadcastAlgorithm broadcast = BroadcastAlgorithm::Auto;
    ReductionPlan rank_order;  // for operations that do not commute, where the team's plan does not keep rank order
};

class Operation {
public:
    // `call.bytes()` > 0 and the team has at least two ranks.
    Operation(HostTeam& team, const Agreed& agreed, const Call& call);

    Progress progress() {
        return std::visit([](auto& task) { return task.progress(); }, task_);
    }
    // Index into allreduce_algorithm_names or broadcast_algorithm_names.
    std::size_t algorithm() const { return algorithm_; }

private:
    void choose_allreduce(HostTeam& team, const Agreed& agreed, const Call& call);
    void choose_broadcast(HostTeam& team, const Agreed& agreed, const Call& call);

    struct None {
        Progress progress() { return Progress::Failed; }
    };
    std::variant<None, AllreducePackets, AllreduceSlots, AllreduceStaged, AllreduceGrouped, AllreduceSingleCopy,
                 BroadcastPackets, BroadcastStaged, BroadcastSingleCopy>
        task_;
    std::size_t algorithm_ = 0;
};

}  // namespace peercoll
