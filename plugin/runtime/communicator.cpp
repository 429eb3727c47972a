// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/communicator.hpp"

#include "plugin/runtime/device_setup.hpp"
#include "plugin/runtime/node_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll {

namespace {

// How often a rank that waits for long looks at the abort flag and the clock.
constexpr std::chrono::milliseconds check_every{2};

constexpr const char* collective_names[PEERCOLL_COLLECTIVE_END] = {"allreduce", "broadcast"};

}  // namespace

Communicator::Communicator(Context& context, const peercoll_comm_params_t& params)
    : context_(context), params_(params), label_(params.label != nullptr ? params.label : "communicator") {
    params_.label = nullptr;  // the caller's text need not live on
    context_.communicators.fetch_add(1, std::memory_order_relaxed);
}

Communicator::~Communicator() {
    if (hosts_ != nullptr && listed_) context_.remove_active(*this);
    hosts_.reset();
    if (node_.devices != nullptr) node_.devices->drop_mappings();  // they would pin memory of others in the pool
    if (unusable_.ok() && broken_.ok()) context_.pool().put(std::move(node_));
    node_ = Node{};  // before the context may go, in whose statistics its segment is counted
    for (Counters& counters : counters_) counters = Counters{};
    context_.communicators.fetch_sub(1, std::memory_order_relaxed);
}

Status Communicator::ready() {
    if (tried_) return unusable_;
    tried_ = true;
    for (int collective = 0; collective < PEERCOLL_COLLECTIVE_END; ++collective) {
        Statistics& statistics = context_.statistics();
        const std::string name = collective_names[collective];
        Counters& counters = counters_[collective];
        counters.served = statistics.local(name + ".served");
        counters.bytes = statistics.local(name + ".bytes");
        counters.fused = statistics.local(name + ".algorithm.fused");
        counters.standby = statistics.local(name + ".fused.standby");
        counters.islands = statistics.local(name + ".algorithm.islands");
        counters.island_bytes_written = statistics.local(name + ".islands.bytes_to_host");
        counters.island_bytes_read = statistics.local(name + ".islands.bytes_from_host");
        counters.staged = statistics.local(name + ".device_staged");
        const auto add = [&](std::string_view algorithm) {
            counters.algorithms.push_back(statistics.local(fmt::format("{}.algorithm.{}", name, algorithm)));
        };
        if (collective == PEERCOLL_ALLREDUCE)
            std::for_each(allreduce_algorithm_names.begin(), allreduce_algorithm_names.end(), add);
        else
            std::for_each(broadcast_algorithm_names.begin(), broadcast_algorithm_names.end(), add);
    }
    context_.statistics().shared("comm.used").fetch_add(1, std::memory_order_relaxed);
    if (size() == 1) return {};
    unusable_ = set_up_node(context_, params_, node_, hosts_);
    if (!unusable_.ok()) {
        hosts_.reset();
        node_ = Node{};
        context_.log().info(fmt::format("{}: not served: {}", label_, unusable_.sentence()));
        return unusable_;
    }
    note_packet_sizes(*node_.team, node_.agreed);
    set_up_devices_ = [this] { return set_up_devices(context_, params_, node_); };
    const auto what = node_.crowded       ? WaitPolicy::For::CrowdedRanks
                      : hosts_ != nullptr ? WaitPolicy::For::Wire
                                          : WaitPolicy::For::Ranks;
    waiter_ = std::make_unique<Waiter>(
        WaitPolicy::make(context_.options().wait, what), check_every,
        [this] {
            context_.progress_active(this);
            if (params_.progress != nullptr) params_.progress(params_.user);
        },
        [this](std::chrono::nanoseconds waited) { return on_check(waited); });
    if (hosts_ != nullptr) {
        // A trial would time the wire.
        node_.agreed.trials = false;
        context_.add_active(*this);
        listed_ = true;
        if (rank() == 0)
            context_.log().info(
                fmt::format("{}: {} ranks on {} nodes, over {}", label_, size(), hosts_->nodes(), hosts_->transport));
    }
    straight_ = hosts_ == nullptr;
    if (rank() == 0)
        context_.log().info(fmt::format("{}: {} ranks in {} groups, segment {} KiB ({}), single copy {}", label_,
                                        node_.team->size(), node_.team->groups().size(), node_.segment.bytes() / 1024,
                                        node_.segment_path, node_.single_copy_path));
    return {};
}

void Communicator::count(const Call& call, const Execution& execution) {
    Counters& counters = counters_[call.kind];
    using Path = DeviceCall::Path;
    if (execution.path() == Path::Fused || execution.path() == Path::Islands) {
        counters.served.add();
        counters.bytes.add(call.bytes());
        (execution.path() == Path::Fused ? counters.fused : counters.islands).add();
        if (execution.stood_by()) counters.standby.add();
        counters.island_bytes_written.add(execution.crossings().written);
        counters.island_bytes_read.add(execution.crossings().read);
    } else {
        count(call, execution.algorithm());
        if (execution.path() == Path::Staged) counters.staged.add();
    }
    tell_why_not_fused(execution);
}

void Communicator::tell_why_not_fused(const Execution& execution) {
    if (execution.not_fused_because().empty() || execution.not_fused_because() == not_fused_because_) return;
    not_fused_because_ = execution.not_fused_because();
    if (rank() != 0) return;
    context_.log().info(
        execution.path() == DeviceCall::Path::Islands
            ? fmt::format("{}: devices that reach each other act together, and exchange through host "
                          "memory with the others: {}",
                          label_, not_fused_because_)
            : fmt::format("{}: device buffers are staged through host memory: {}", label_, not_fused_because_));
}

void Communicator::count(const Call& call, HostsCall& hosts_call) {
    Counters& counters = counters_[call.kind];
    counters.served.add();
    counters.bytes.add(call.bytes());
    if (hosts_call.staged()) counters.staged.add();
    hosts_call.count();
}

Status Communicator::run(const Call& call) {
    if (!tried_) {
        if (Status status = ready(); !status.ok()) return status;
    }
    if (!unusable_.ok()) return unusable_;
    if (call.bytes() == 0 || size() == 1) return run_alone(call);
    if (listed_) {
        // Something may be under way; then this call takes its turn like any other.
        Request request(*this, call, false);
        if (Status status = start(request); !status.ok()) return status;
        Status status = wait(request);
        retire(request);
        return status;
    }
    return run_task(call);
}

Status Communicator::run_alone(const Call& call) {
    Counters& counters = counters_[call.kind];
    counters.served.add();
    counters.bytes.add(call.bytes());
    if (call.kind == PEERCOLL_ALLREDUCE && call.bytes() > 0 && call.source != call.destination)
        return context_.devices().copy(call.destination, call.source, call.bytes());
    return {};
}

Status Communicator::run_execution(const Call& call) {
    Execution execution(node_, context_.devices(), call, set_up_devices_);
    if (waiter_->wait([&execution] { return execution.progress(); }) != Progress::Done)
        return give_up(execution.status());
    count(call, execution);
    return {};
}

void Communicator::remember(const Call& call, std::size_t algorithm) {
    if (call.kind == PEERCOLL_BROADCAST) {
        const auto chosen = static_cast<BroadcastAlgorithm>(algorithm);
        if (chosen == BroadcastAlgorithm::Packets || chosen == BroadcastAlgorithm::Staged)
            repeated_broadcast_ = {call.bytes(), chosen};
        return;
    }
    const auto chosen = static_cast<AllreduceAlgorithm>(algorithm);
    if (chosen == AllreduceAlgorithm::Packets || chosen == AllreduceAlgorithm::Slots ||
        chosen == AllreduceAlgorithm::Staged)
        repeated_allreduce_ = {
            call.count,
            call.datatype,
            call.op,
            chosen,
            call.bytes(),
            {nullptr, nullptr, call.count, call.element_bytes, call.fold, &plan_for(*node_.team, node_.agreed, call)}};
}

// True on all ranks alike; only the root has anything to do.
bool Communicator::lets_readers_finish(const Call& call) {
    HostTeam& team = *node_.team;
    const int turns = call.broadcast.root == rank() ? team.size() : 0;
    return waiter_->give_way(call.bytes(), turns, [&team] { return team.all_reached(team.position().step); });
}

Status Communicator::run_task(const Call& call) {
    if (Execution::is_due(node_, context_.devices(), call)) return run_execution(call);
    const std::uint64_t position = node_.team->position().step;
    Operation operation(*node_.team, node_.agreed, node_.trials, call);
    if (waiter_->wait([&operation] { return operation.progress(); }) != Progress::Done) return give_up();
    count(call, operation.algorithm());
    if (call.kind == PEERCOLL_ALLREDUCE) Execution::hear_of_devices(node_, position);
    // The straight way is for calls that are too short for this.
    const bool gave_way = call.kind == PEERCOLL_BROADCAST && lets_readers_finish(call);
    if (operation.is_sole_choice() && !gave_way) remember(call, operation.algorithm());
    return {};
}

// -- For people -------------------------------------------------------------------------------------------------------

Status Communicator::passed_on(peercoll_collective_t collective, const char* reason) {
    if (collective < 0 || collective >= PEERCOLL_COLLECTIVE_END)
        return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("{} is no collective", collective)};
    if (reason == nullptr || !is_counter_word(reason))
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "the reason is not a short word of a-z, 0-9 and _"};
    context_.statistics()
        .shared(fmt::format("{}.passed_on.{}", collective_names[collective], reason))
        .fetch_add(1, std::memory_order_relaxed);
    return {};
}

Status Communicator::describe(std::vector<std::string>& lines) {
    if (Status status = ready(); !status.ok()) {
        lines.push_back(fmt::format("{}: {} ranks, not served: {}", label_, size(), status.sentence()));
        return {};
    }
    lines.push_back(fmt::format("{}: {} on {}", label_, size() == 1 ? "1 rank" : fmt::format("{} ranks", size()),
                                hosts_ != nullptr ? fmt::format("{} nodes", hosts_->nodes()) : "1 node"));
    if (size() == 1) return {};
    if (hosts_ != nullptr) {
        for (std::string& line : hosts_->describe()) lines.push_back(std::move(line));
        return {};
    }
    constexpr const char* levels[] = {"none", "shared cache", "NUMA node", "package"};
    const auto& groups = node_.team->groups();
    lines.push_back(fmt::format("groups: {} (level: {})", groups.size(), levels[static_cast<int>(node_.group_level)]));
    for (std::size_t g = 0; g < groups.size(); ++g)
        lines.push_back(fmt::format("  group {}: ranks {}", g, fmt::join(groups[g], " ")));
    lines.push_back(fmt::format("reduction order: {}", node_.team->plan().is_flat()
                                                           ? "rank order"
                                                           : "rank order inside each group, then the groups in order"));
    lines.push_back(fmt::format("segment: {} KiB in {}", node_.segment.bytes() / 1024, node_.segment_path));
    lines.push_back(fmt::format(
        "waiting: {}", node_.crowded ? "yields at once, there are more ranks than processors" : "spins, then yields"));
    const bool single = node_.team->reader() != nullptr;
    for (int a = 0; a < size(); ++a)
        for (int b = a + 1; b < size(); ++b)
            lines.push_back(fmt::format(
                "path {} - {}: shared memory{}", a, b,
                single ? fmt::format("; large messages single copy by {} (proven by a read in each direction)",
                                     node_.single_copy_path)
                       : fmt::format("; single copy {}", node_.single_copy_path)));
    if (node_.devices == nullptr) return {};
    for (int a = 0; a < size(); ++a)
        for (int b = a + 1; b < size(); ++b)
            lines.push_back(fmt::format("device path: {}", node_.devices->peers().path_text(a, b)));
    return {};
}

}  // namespace peercoll
