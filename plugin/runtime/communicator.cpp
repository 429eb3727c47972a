// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/communicator.hpp"

#include "plugin/runtime/device_setup.hpp"
#include "plugin/runtime/node_pool.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

namespace peercoll {

namespace {

// How often a rank that waits for long looks at the abort flag and the clock.
constexpr std::chrono::milliseconds check_every{2};
// How long a copy that the system refused may be the first sign of a peer's death.
constexpr std::chrono::milliseconds dying_takes{200};

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

// -- Started requests -------------------------------------------------------------------------------------------------

Status Communicator::start(Request& request) {
    if (Status status = ready(); !status.ok()) return status;
    request.status = Status{};
    if (request.call.bytes() == 0 || size() == 1) {
        request.status = run_alone(request.call);
        return {};
    }
    request.active.store(true, std::memory_order_relaxed);
    request.counted = true;
    ++requests;
    {
        const std::lock_guard lock(queue_mutex_);
        queue_.push_back(&request);
        progress_queue();
    }
    if (!listed_) context_.add_active(*this);
    listed_ = true;
    return {};
}

void Communicator::retire(Request& request) {
    if (!request.counted) return;
    request.counted = false;
    --requests;
    bool empty = false;
    {
        const std::lock_guard lock(queue_mutex_);
        empty = queue_.empty();
    }
    if (!empty || !listed_ || hosts_ != nullptr) return;
    context_.remove_active(*this);
    listed_ = false;
}

void Communicator::test(Request& request) {
    try_progress();
    context_.progress_active(this);
    constexpr std::uint32_t tests_between_clock_reads = 256;
    if (++tests_ % tests_between_clock_reads != 0 || !request.active.load(std::memory_order_acquire)) return;
    const auto now = std::chrono::steady_clock::now();
    if (tested_ != &request) {
        tested_ = &request;
        tested_since_ = now;
    }
    if (!on_check(now - tested_since_)) fail_queue();
}

void Communicator::fail_queue() {
    const std::lock_guard lock(queue_mutex_);
    while (!queue_.empty()) complete(*queue_.front(), give_up());
}

void Communicator::begin_head(const Call& call) {
    if (hosts_ != nullptr) {
        hosts_head_.emplace(*hosts_, node_, context_.devices(), call);
        return;
    }
    Execution::is_due(node_, context_.devices(), call);  // counts it, as for a blocking call
    head_.emplace(node_, context_.devices(), call, set_up_devices_);
}

Progress Communicator::progress_queue() {
    while (!queue_.empty()) {
        Request& request = *queue_.front();
        if (!head_ && !hosts_head_) begin_head(request.call);
        const Progress state = hosts_head_ ? hosts_head_->progress() : head_->progress();
        if (state == Progress::Advanced) return state;
        if (state == Progress::Pending || state == Progress::Resting) {
            if (node_.team->header().abort_code.load(std::memory_order_relaxed) == 0) return state;
        } else if (state == Progress::Done) {
            if (hosts_head_)
                count(request.call, *hosts_head_);
            else
                count(request.call, *head_);
            complete(request, {});
            continue;
        }
        const Status cause = hosts_head_ ? hosts_head_->status() : head_->status();
        complete(request, give_up(state == Progress::Failed ? cause : Status{}));
    }
    return Progress::Done;
}

void Communicator::complete(Request& request, Status status) {
    queue_.pop_front();
    head_.reset();
    hosts_head_.reset();
    request.status = std::move(status);
    request.active.store(false, std::memory_order_release);
}

void Communicator::try_progress() {
    const std::unique_lock lock(queue_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    progress_queue();
    if (hosts_ != nullptr && hosts_->speaks()) hosts_->link->progress();
}

Status Communicator::wait(Request& request) {
    const Progress state = waiter_ == nullptr ? Progress::Done : waiter_->wait([&] {
        if (!request.active.load(std::memory_order_acquire)) return Progress::Done;
        const std::unique_lock lock(queue_mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return Progress::Pending;
        const Progress moved = progress_queue();
        return request.active.load(std::memory_order_relaxed)
                   ? (moved == Progress::Advanced ? moved : Progress::Pending)
                   : Progress::Done;
    });
    if (state == Progress::Failed) fail_queue();
    return request.status;
}

// -- Giving up --------------------------------------------------------------------------------------------------------

void Communicator::break_with(Status status) {
    broken_ = std::move(status);
    SegmentHeader& header = node_.team->header();
    std::uint32_t none = 0;
    if (header.abort_code.compare_exchange_strong(none, static_cast<std::uint32_t>(-broken_.code()),
                                                  std::memory_order_relaxed))
        header.abort_rank.store(rank(), std::memory_order_relaxed);
}

bool Communicator::on_check(std::chrono::nanoseconds waited) {
    const SegmentHeader& header = node_.team->header();
    if (header.abort_code.load(std::memory_order_relaxed) != 0) return false;
    const Options& options = context_.options();
    if (options.timeout && waited >= *options.timeout) {
        break_with({PEERCOLL_ERR_TIMEOUT, fmt::format("{}: a collective did not end within {} ms (option timeout)",
                                                      label_, options.timeout->count())});
        return false;
    }
    if (waited < last_waited_) next_peer_check_ = std::chrono::nanoseconds{0};  // a new wait
    last_waited_ = waited;
    if (next_peer_check_.count() == 0 && options.peer_check) next_peer_check_ = *options.peer_check;
    if (!options.peer_check || waited < next_peer_check_) return true;
    next_peer_check_ = waited + *options.peer_check;
    return !break_with_lost_peer();
}

bool Communicator::break_with_lost_peer() {
    for (int peer = 0; peer < node_.team->size(); ++peer) {
        const ProcessIdentity& process = node_.identities[static_cast<std::size_t>(peer)];
        // A rank that has taken all steps of this operation may be gone: it has left nothing undone.
        if (peer == node_.team->rank() || is_alive(process, context_.identity()) || node_.team->has_left(peer))
            continue;
        break_with({PEERCOLL_ERR_PEER_LOST, fmt::format("{}: rank {} (process {}) died in the middle of a collective",
                                                        label_, rank_of(peer), process.pid)});
        return true;
    }
    return false;
}

int Communicator::rank_of(int local) const {
    return hosts_ != nullptr ? hosts_->own_ranks()[static_cast<std::size_t>(local)] : local;
}

bool Communicator::break_with_dying_peer() {
    // A process that is killed loses its memory, and so refuses copies, a moment before it counts as dead.
    const auto limit = std::chrono::steady_clock::now() + dying_takes;
    do {
        if (break_with_lost_peer()) return true;
        std::this_thread::sleep_for(check_every);
    } while (std::chrono::steady_clock::now() < limit);
    return false;
}

Status Communicator::give_up(const Status& cause) {
    if (broken_.ok() && !cause.ok()) break_with({cause.code(), fmt::format("{}: {}", label_, cause.sentence())});
    if (broken_.ok()) {
        const SegmentHeader& header = node_.team->header();
        if (header.abort_code.load(std::memory_order_relaxed) != 0)
            broken_ = {PEERCOLL_ERR_PEER_LOST, fmt::format("{}: rank {} gave up on a collective", label_,
                                                           header.abort_rank.load(std::memory_order_relaxed))};
        else if (!break_with_dying_peer())
            break_with(
                {PEERCOLL_ERR_SYSTEM,
                 fmt::format("{}: the system refused to copy from another rank's buffer in the middle of a collective; "
                             "option single_copy=off avoids such copies",
                             label_)});
    }
    straight_ = false;
    if (unusable_.ok()) {
        if (hosts_ != nullptr && hosts_->speaks()) hosts_->link->drop_all();
        unusable_ = broken_;
        context_.log().error(broken_.sentence());
    }
    return broken_;
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
