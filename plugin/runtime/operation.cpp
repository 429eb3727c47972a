// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/operation.hpp"

#include "collectives/allreduce/select.hpp"
#include "collectives/broadcast/select.hpp"

namespace peercoll {

namespace {

// What another candidate may take of the time of the table's first to replace it. Less for a broadcast, because its
// single copy keeps the ranks in step, which a caller feels and a trial does not.
constexpr std::uint64_t allreduce_percent = 93;
constexpr std::uint64_t broadcast_percent = 75;

// The largest message, of whole lines, for which `select` says packets and nothing else, as it does for all smaller
// ones.
template <typename Select, typename Algorithm>
std::size_t packets_up_to(Select&& select, Algorithm packets) {
    std::size_t bytes = 0;
    for (std::size_t next = packet_payload; next <= packet_max_bytes; next += packet_payload) {
        const auto candidates = select(next);
        if (candidates.size() != 1 || candidates[0].algorithm != packets) break;
        bytes = next;
    }
    return bytes;
}

}  // namespace

const ReductionPlan& plan_for(const HostTeam& team, const Agreed& agreed, const Call& call) {
    return call.commutative || team.plan().keeps_rank_order() ? team.plan() : agreed.rank_order;
}

void note_packet_sizes(const HostTeam& team, Agreed& agreed) {
    const bool single_copy = team.reader() != nullptr;
    const bool groups = team.groups().size() > 1;
    agreed.allreduce_packets = packets_up_to(
        [&](std::size_t bytes) {
            return select_allreduce({bytes, team.size(), groups, single_copy, agreed.allreduce});
        },
        AllreduceAlgorithm::Packets);
    agreed.broadcast_packets = packets_up_to(
        [&](std::size_t bytes) {
            return select_broadcast({bytes, team.size(), groups, single_copy, agreed.broadcast});
        },
        BroadcastAlgorithm::Packets);
}

Operation::Operation(HostTeam& team, const Agreed& agreed, Trials& trials, const Call& call)
    : team_(&team), agreed_(&agreed), call_(&call) {
    if (call.kind == PEERCOLL_ALLREDUCE) {
        if (call.bytes() <= agreed.allreduce_packets)
            choose(trials, Candidates<AllreduceAlgorithm>{{AllreduceAlgorithm::Packets, Stores::Cached}});
        else
            choose(trials, allreduce_candidates());
    } else {
        if (call.bytes() <= agreed.broadcast_packets)
            choose(trials, Candidates<BroadcastAlgorithm>{{BroadcastAlgorithm::Packets, Stores::Cached}});
        else
            choose(trials, broadcast_candidates());
    }
}

Candidates<AllreduceAlgorithm> Operation::allreduce_candidates() const {
    return select_allreduce({call_->bytes(), team_->size(),
                             AllreduceGrouped::takes(*team_, plan_for(*team_, *agreed_, *call_)),
                             call_->single_copy && AllreduceSingleCopy::takes(*team_), agreed_->allreduce});
}

Candidates<BroadcastAlgorithm> Operation::broadcast_candidates() const {
    return select_broadcast({call_->bytes(), team_->size(), team_->groups().size() > 1,
                             call_->single_copy && BroadcastSingleCopy::takes(*team_), agreed_->broadcast});
}

template <typename Algorithm>
void Operation::choose(Trials& trials, const Candidates<Algorithm>& candidates) {
    sole_choice_ =
        call_->single_copy && candidates[0].stores == Stores::Cached && (candidates.size() == 1 || !agreed_->trials);
    // Without single copies the list is another one than that of other calls of this size.
    if (candidates.size() == 1 || !agreed_->trials || !call_->single_copy) {
        start(candidates[0]);
        return;
    }
    Trials::Size& size = trials.of(call_->kind, call_->bytes());
    if (size.must_agree(candidates.size())) {
        task_.emplace<TimeAgreement>(*team_, size.best, candidates.size(),
                                     call_->kind == PEERCOLL_ALLREDUCE ? allreduce_percent : broadcast_percent);
        trial_ = &size;
        return;
    }
    candidate_ = size.next(candidates.size());
    start(candidates[candidate_]);
    if (size.decided) return;
    trial_ = &size;
    begin_ = std::chrono::steady_clock::now();
}

Progress Operation::end_of_trial_step() {
    if (const auto* agreement = std::get_if<TimeAgreement>(&task_)) {
        const std::size_t fastest = agreement->fastest();
        trial_->decide(fastest);
        trial_ = nullptr;
        if (call_->kind == PEERCOLL_ALLREDUCE)
            start(allreduce_candidates()[fastest]);
        else
            start(broadcast_candidates()[fastest]);
        return Progress::Advanced;
    }
    const auto taken = std::chrono::steady_clock::now() - begin_;
    trial_->record(candidate_, static_cast<std::uint64_t>(std::chrono::nanoseconds(taken).count()));
    return Progress::Done;
}

void Operation::start(const Candidate<AllreduceAlgorithm>& choice) {
    const AllreduceArguments arguments{call_->source,        call_->destination, call_->count,
                                       call_->element_bytes, call_->fold,        &plan_for(*team_, *agreed_, *call_)};
    algorithm_ = static_cast<std::size_t>(choice.algorithm);
    switch (choice.algorithm) {
        case AllreduceAlgorithm::Packets:
            task_.emplace<AllreducePackets>(*team_, arguments);
            break;
        case AllreduceAlgorithm::Slots:
            task_.emplace<AllreduceSlots>(*team_, arguments, choice.stores);
            break;
        case AllreduceAlgorithm::Grouped:
            task_.emplace<AllreduceGrouped>(*team_, arguments, choice.stores);
            break;
        case AllreduceAlgorithm::SingleCopy:
            task_.emplace<AllreduceSingleCopy>(*team_, arguments);
            break;
        case AllreduceAlgorithm::Auto:
        case AllreduceAlgorithm::Staged:
            task_.emplace<AllreduceStaged>(*team_, arguments, choice.stores);
            break;
    }
}

void Operation::start(const Candidate<BroadcastAlgorithm>& choice) {
    algorithm_ = static_cast<std::size_t>(choice.algorithm);
    switch (choice.algorithm) {
        case BroadcastAlgorithm::Packets:
            task_.emplace<BroadcastPackets>(*team_, call_->broadcast);
            break;
        case BroadcastAlgorithm::SingleCopy:
            task_.emplace<BroadcastSingleCopy>(*team_, call_->broadcast);
            break;
        case BroadcastAlgorithm::Grouped:
            task_.emplace<BroadcastStaged>(*team_, call_->broadcast, BroadcastStaged::Shape::Grouped, choice.stores);
            break;
        case BroadcastAlgorithm::Auto:
        case BroadcastAlgorithm::Staged:
            task_.emplace<BroadcastStaged>(*team_, call_->broadcast, BroadcastStaged::Shape::Flat, choice.stores);
            break;
    }
}

}  // namespace peercoll
