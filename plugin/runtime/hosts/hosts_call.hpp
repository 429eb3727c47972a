// SPDX-License-Identifier: BSD-3-Clause
// A call on a communicator over several nodes, from its start to its end. Device buffers are staged by the rank that
// has them, unknown to the others: copied to host memory before, and back after. The first call in which each of many
// nodes exchanges with all others connects them.
#pragma once

#include "collectives/nodes/late_connections.hpp"
#include "collectives/task.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/hosts/hosts_allreduce.hpp"
#include "plugin/runtime/hosts/hosts_broadcast.hpp"
#include "plugin/runtime/process_devices.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

namespace peercoll {

class HostsCall {
public:
    // All must outlive the object. `call.bytes()` > 0.
    HostsCall(Hosts& hosts, Node& node, ProcessDevices& devices, const Call& call)
        : hosts_(&hosts), node_(&node), devices_(&devices), original_(&call), call_(call) {}

    Progress progress();
    // Counts the schedule, once Done.
    void count();
    // Whether this rank had device buffers.
    bool staged() const { return staged_.get() != nullptr; }
    // Why it has failed, if it was not inside the node.
    const Status& status() const { return status_; }

private:
    enum class Stage : std::uint8_t { Begin, Connect, Work, Settle };
    bool on_root() const;
    Progress begin();
    Progress connect();
    Progress work();
    Status copy_in();
    Status copy_out();
    Progress fail(Status status);
    Progress settle();

    Hosts* hosts_;
    Node* node_;
    ProcessDevices* devices_;
    const Call* original_;
    Call call_;  // with host addresses
    StagedBytes staged_;
    Stage stage_ = Stage::Begin;
    std::optional<LateConnections> connections_;
    std::variant<std::monostate, HostsAllreduce, HostsBroadcast> task_;
    std::chrono::steady_clock::time_point settle_until_{};
    Status status_;
};

}  // namespace peercoll
