// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/device_call.hpp"

#include <type_traits>
#include <utility>

namespace peercoll {

namespace {

// The second one follows a set-up; a device that is unknown even then is staged.
constexpr int most_meetings = 2;

}  // namespace

DeviceCall::DeviceCall(Node& node, ProcessDevices& devices, const Call& call, const std::function<Status()>& set_up)
    : node_(&node), devices_(&devices), call_(call), set_up_(&set_up) {}

// The least of all ranks' notes counts: it tells from which operation on somebody has known (node.hpp,
// communicator.cpp).
void DeviceCall::note_devices() const {
    std::atomic<std::uint64_t>& since = node_->team->header().devices_since;
    const std::uint64_t now = node_->team->position().step + 1;
    std::uint64_t known = since.load(std::memory_order_relaxed);
    while ((known == 0 || known > now) && !since.compare_exchange_weak(known, now, std::memory_order_release)) {
    }
}

void DeviceCall::stage(bool agreed, bool single_copy, std::string because) {
    path_ = Path::Staged;
    call_.single_copy = single_copy;
    not_fused_because_ = std::move(because);
    task_.emplace<StagedCall>(*node_, *devices_, call_, agreed);
}

Progress DeviceCall::fail(Status status) {
    status_ = std::move(status);
    return Progress::Failed;
}

Status DeviceCall::meet() {
    ++meetings_;
    DeviceTeam::Buffer source;
    DeviceTeam::Buffer destination;
    bool new_device = false;
    const void* read = call_.read_buffer();
    const void* written = call_.written_buffer();
    if (Status status = node_->devices->describe(devices_->classify(read), read, call_.bytes(), source, new_device);
        !status.ok())
        return status;
    if (written == read)
        destination = source;
    else if (Status status =
                 node_->devices->describe(devices_->classify(written), written, call_.bytes(), destination, new_device);
             !status.ok())
        return status;
    task_.emplace<DeviceMeeting>(*node_->devices, source, destination, new_device && meetings_ < most_meetings);
    return {};
}

Status DeviceCall::after_meeting() {
    DeviceTeam& team = *node_->devices;
    bool new_device = false;
    for (int rank = 0; rank < team.size(); ++rank) new_device = new_device || team.arrival(rank).new_device != 0;
    if (new_device) {
        task_.emplace<std::monostate>();
        if (Status status = (*set_up_)(); !status.ok()) return status;
        if (node_->devices != nullptr) return meet();
        stage(true, false, node_->devices_reason);
        return {};
    }
    const DeviceSituation known = situation();
    DeviceChoice choice = select_device(known);
    call_.single_copy = choice.single_copy;
    if (choice.path != DeviceChoice::Path::Fused) team.recheck_exports();  // a fold does it while the device works
    switch (choice.path) {
        case DeviceChoice::Path::Host:
            path_ = Path::Host;
            task_.emplace<Operation>(*node_->team, node_->agreed, node_->trials, call_);
            break;
        case DeviceChoice::Path::Staged:
            stage(true, choice.single_copy, choice.reason);
            break;
        case DeviceChoice::Path::Islands:
            path_ = Path::Islands;
            not_fused_because_ = choice.reason;
            task_.emplace<Islands>(team, work_in(known), std::move(choice.islands));
            break;
        case DeviceChoice::Path::Fused:
            path_ = Path::Fused;
            task_.emplace<FusedFold>(team, work_in(known), choice);
            break;
    }
    return {};
}

DeviceSituation DeviceCall::situation() const {
    const DeviceTeam& team = *node_->devices;
    DeviceSituation known;
    known.arrivals.reserve(static_cast<std::size_t>(team.size()));
    for (int rank = 0; rank < team.size(); ++rank) known.arrivals.push_back(&team.arrival(rank));
    known.collective = call_.kind;
    known.may_reach = [&team](int executor, std::uint32_t from, int owner, std::uint32_t to) {
        return team.peers().may_reach(executor, from, owner, to);
    };
    known.algorithm = team.algorithm();
    known.executors = team.executors();
    known.islands.executor_of = [&team](std::uint32_t device) { return team.peers().devices()[device].executor(); };
    if (call_.kind == PEERCOLL_BROADCAST) {
        known.root = call_.broadcast.root;
        known.count = call_.broadcast.bytes;
        return known;
    }
    known.count = call_.count;
    known.element_bytes = call_.element_bytes;
    known.islands.plan = &plan_for(*node_->team, node_->agreed, call_);
    known.islands.rounds_blocks = call_.datatype == PEERCOLL_FLOAT16 || call_.datatype == PEERCOLL_BFLOAT16;
    return known;
}

DeviceWork DeviceCall::work_in(const DeviceSituation& situation) const {
    DeviceWork work;
    work.collective = call_.kind;
    work.root = situation.root;
    work.count = situation.count;
    work.element_bytes = situation.element_bytes;
    work.plan = situation.islands.plan;
    work.source = call_.kind == PEERCOLL_ALLREDUCE ? call_.source : call_.broadcast.buffer;
    work.destination = call_.kind == PEERCOLL_ALLREDUCE ? call_.destination : call_.broadcast.buffer;
    if (call_.kind == PEERCOLL_ALLREDUCE) {
        work.datatype = call_.datatype;
        work.op = call_.op;
    }
    return work;
}

template <typename Task>
Progress DeviceCall::end_of(const Task& task) {
    if constexpr (std::is_same_v<Task, Islands>) crossings_ = task.crossings();
    if constexpr (std::is_same_v<Task, FusedFold>) stood_by_ = task.stood_by();
    if (!task.refused()) return Progress::Done;
    stage(true, call_.single_copy, std::string(task.reason()));
    return Progress::Advanced;
}

Progress DeviceCall::progress() {
    if (std::holds_alternative<std::monostate>(task_)) {
        if (node_->devices == nullptr) {
            note_devices();
            // With a team, describe() does this.
            for (const void* buffer : {call_.read_buffer(), call_.written_buffer()})
                if (Status status = ProcessDevices::settle(devices_->classify(buffer)); !status.ok())
                    return fail(std::move(status));
            // Others may copy from this rank's memory, but staging is no device runtime's.
            stage(false, true, {});
        } else if (Status status = meet(); !status.ok()) {
            return fail(std::move(status));
        }
        return Progress::Advanced;
    }
    const Progress state = std::visit(
        [](auto& task) {
            if constexpr (std::is_same_v<std::decay_t<decltype(task)>, std::monostate>)
                return Progress::Failed;
            else
                return task.progress();
        },
        task_);
    if (state == Progress::Failed) {
        if (const auto* fold = std::get_if<FusedFold>(&task_))
            status_ = {PEERCOLL_ERR_SYSTEM, fold->reason()};
        else if (const auto* islands = std::get_if<Islands>(&task_))
            status_ = {PEERCOLL_ERR_SYSTEM, islands->reason()};
        else if (const auto* staged = std::get_if<StagedCall>(&task_))
            status_ = staged->status();
    }
    if (state != Progress::Done) return state;
    if (std::holds_alternative<DeviceMeeting>(task_)) {
        if (Status status = after_meeting(); !status.ok()) return fail(std::move(status));
        return Progress::Advanced;
    }
    if (const auto* operation = std::get_if<Operation>(&task_)) algorithm_ = operation->algorithm();
    if (const auto* staged = std::get_if<StagedCall>(&task_)) algorithm_ = staged->algorithm();
    if (const auto* fold = std::get_if<FusedFold>(&task_)) return end_of(*fold);
    if (const auto* islands = std::get_if<Islands>(&task_)) return end_of(*islands);
    return state;
}

}  // namespace peercoll
