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
#include "collectives/candidates.hpp"
#include "collectives/device/select.hpp"
#include "collectives/host/host_team.hpp"
#include "collectives/host/time_agreement.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/trials.hpp"

#include <chrono>
#include <variant>

namespace peercoll {

// What the communicator's ranks agreed on for choosing.
struct Agreed {
    AllreduceAlgorithm allreduce = AllreduceAlgorithm::Auto;  // forced, or Auto
    BroadcastAlgorithm broadcast = BroadcastAlgorithm::Auto;
    bool trials = true;  // false: the first candidate of the table
    // Up to so many bytes the selector says packets and nothing else; kept here, since asking it takes as long as a
    // packet.
    std::size_t allreduce_packets = 0;
    std::size_t broadcast_packets = 0;
    DeviceAlgorithm device_algorithm = DeviceAlgorithm::Auto;
    Executors executors = Executors::Auto;
    ReductionPlan rank_order;  // for operations that do not commute, where the team's plan does not keep rank order
};

// The plan that a call's operation may use.
const ReductionPlan& plan_for(const HostTeam& team, const Agreed& agreed, const Call& call);

// Fills in allreduce_packets and broadcast_packets from what the selectors say for `team`.
void note_packet_sizes(const HostTeam& team, Agreed& agreed);

class Operation {
public:
    // `call.bytes()` > 0 and the team has at least two ranks. All four must outlive the operation.
    Operation(HostTeam& team, const Agreed& agreed, Trials& trials, const Call& call);

    Progress progress() {
        const Progress state = std::visit([](auto& task) { return task.progress(); }, task_);
        return state == Progress::Done && trial_ != nullptr ? end_of_trial_step() : state;
    }
    // Index into allreduce_algorithm_names or broadcast_algorithm_names.
    std::size_t algorithm() const { return algorithm_; }
    // Whether every call of this size has this algorithm, with cached stores: nothing is tried, nothing was left out.
    bool is_sole_choice() const { return sole_choice_; }

private:
    template <typename Algorithm>
    void choose(Trials& trials, const Candidates<Algorithm>& candidates);
    // A timed call is over, or the ranks have agreed and the call itself comes now.
    Progress end_of_trial_step();
    void start(const Candidate<AllreduceAlgorithm>& choice);
    void start(const Candidate<BroadcastAlgorithm>& choice);
    Candidates<AllreduceAlgorithm> allreduce_candidates() const;
    Candidates<BroadcastAlgorithm> broadcast_candidates() const;

    struct None {
        Progress progress() { return Progress::Failed; }
    };
    HostTeam* team_;
    const Agreed* agreed_;
    const Call* call_;
    Trials::Size* trial_ = nullptr;  // null: nothing to try or to agree on
    std::size_t candidate_ = 0;
    std::chrono::steady_clock::time_point begin_;
    std::variant<None, AllreducePackets, AllreduceSlots, AllreduceStaged, AllreduceGrouped, AllreduceSingleCopy,
                 BroadcastPackets, BroadcastStaged, BroadcastSingleCopy, TimeAgreement>
        task_;
    std::size_t algorithm_ = 0;
    bool sole_choice_ = false;
};

}  // namespace peercoll
