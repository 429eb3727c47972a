// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/hosts_call.hpp"

#include "collectives/nodes/node_partners.hpp"

#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

// What others need of a message that has completed here is over in far less, unless they are lost.
constexpr std::chrono::seconds settle_limit{1};

}  // namespace

bool HostsCall::on_root() const {
    return hosts_->node == hosts_->node_of[static_cast<std::size_t>(original_->broadcast.root)] &&
           hosts_->local_number(original_->broadcast.root) == node_->team->rank();
}

Status HostsCall::copy_in() {
    if (!devices_->in_use()) return {};
    const bool from_device = devices_->classify(original_->read_buffer()).runtime != nullptr;
    if (!from_device && devices_->classify(original_->written_buffer()).runtime == nullptr) return {};
    if (Status status = staged_.take(devices_->staging(), nullptr, 0, original_->bytes()); !status.ok()) return status;
    if (original_->kind == PEERCOLL_BROADCAST) {
        call_.broadcast.buffer = staged_.get();
        return on_root() ? devices_->copy(staged_.get(), original_->broadcast.buffer, original_->bytes()) : Status{};
    }
    call_.destination = staged_.get();
    if (!from_device) return {};
    call_.source = staged_.get();  // reduced in place
    return devices_->copy(staged_.get(), original_->source, original_->bytes());
}

Status HostsCall::copy_out() {
    if (!staged() || (original_->kind == PEERCOLL_BROADCAST && on_root())) return {};
    std::byte* to = original_->kind == PEERCOLL_BROADCAST ? original_->broadcast.buffer : original_->destination;
    return devices_->copy(to, staged_.get(), original_->bytes());
}

Progress HostsCall::fail(Status status) {
    status_ = std::move(status);
    return Progress::Failed;
}

// A message that has completed here may still need this process to reach the other side, and the caller may not come
// back for long. Not while other communicators have messages under way: those settle at their own end.
Progress HostsCall::settle() {
    if (!hosts_->speaks() || !hosts_->link->settle()) return Progress::Done;
    if (std::chrono::steady_clock::now() <= settle_until_) return Progress::Pending;
    hosts_->unsettled.add();
    return Progress::Done;
}

Progress HostsCall::begin() {
    if (Status status = copy_in(); !status.ok()) return fail(std::move(status));
    stage_ = Stage::Work;
    if (call_.kind != PEERCOLL_ALLREDUCE) {
        task_.emplace<HostsBroadcast>(*hosts_, *node_, call_);
        return Progress::Advanced;
    }
    const NodeAllreduce algorithm = task_.emplace<HostsAllreduce>(*hosts_, *node_, call_).algorithm();
    if (hosts_->late_connected || !needs_late_partners(algorithm, hosts_->nodes())) return Progress::Advanced;
    // The choice, and so this, is the same on all ranks; also of those that do not speak.
    hosts_->late_connected = true;
    const auto batches = static_cast<std::uint64_t>(late_batches(hosts_->nodes()));
    const std::uint32_t sequence = hosts_->take_sequences(batches);
    if (!hosts_->speaks()) return Progress::Advanced;
    connections_.emplace(*hosts_->link, hosts_->nodes(), hosts_->node, sequence);
    hosts_->link->send_for(WireLink::Purpose::Proof);
    stage_ = Stage::Connect;
    return Progress::Advanced;
}

Progress HostsCall::connect() {
    const Progress state = connections_->progress();
    if (state == Progress::Failed && connections_->came_wrong()) {
        const std::vector<int>& there = hosts_->ranks[static_cast<std::size_t>(connections_->suspect())];
        return fail({PEERCOLL_ERR_INTERNAL, fmt::format("a message from rank {} came with other bytes than sent",
                                                        there[static_cast<std::size_t>(node_->team->rank())])});
    }
    if (state == Progress::Failed) return fail(hosts_->link->status());
    if (state != Progress::Done) return state;
    connections_.reset();
    hosts_->link->send_for(WireLink::Purpose::Collectives);
    stage_ = Stage::Work;
    return Progress::Advanced;
}

Progress HostsCall::work() {
    auto* allreduce = std::get_if<HostsAllreduce>(&task_);
    auto* broadcast = std::get_if<HostsBroadcast>(&task_);
    const Progress state = allreduce != nullptr ? allreduce->progress() : broadcast->progress();
    if (state == Progress::Failed) return fail(allreduce != nullptr ? allreduce->status() : broadcast->status());
    if (state != Progress::Done) return state;
    if (Status status = copy_out(); !status.ok()) return fail(std::move(status));
    settle_until_ = std::chrono::steady_clock::now() + settle_limit;
    stage_ = Stage::Settle;
    return settle();
}

Progress HostsCall::progress() {
    switch (stage_) {
        case Stage::Begin:
            return begin();
        case Stage::Connect:
            return connect();
        case Stage::Work:
            return work();
        case Stage::Settle:
            return settle();
    }
    return Progress::Failed;
}

void HostsCall::count() {
    if (const auto* allreduce = std::get_if<HostsAllreduce>(&task_)) {
        hosts_->allreduces[static_cast<std::size_t>(allreduce->algorithm())].add();
        if (allreduce->is_shared()) hosts_->shared_allreduces.add();
    } else if (const auto* broadcast = std::get_if<HostsBroadcast>(&task_)) {
        hosts_->broadcasts[static_cast<std::size_t>(broadcast->algorithm())].add();
        if (broadcast->is_shared()) hosts_->shared_broadcasts.add();
    }
}

}  // namespace peercoll
