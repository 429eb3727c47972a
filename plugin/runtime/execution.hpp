// SPDX-License-Identifier: BSD-3-Clause
// Execution: one call from its start to its end on a communicator, with what devices need around it:
//   - a device team is made when all ranks know that one of them has met a device buffer;
//   - ranks learn of that from an allreduce, which hears of all of them anyway, and else from a meeting before the
//     first, second, fourth, eighth ... broadcast (a root of broadcasts hears of nobody).
#pragma once

#include "collectives/task.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/device_call.hpp"
#include "plugin/runtime/node.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/process_devices.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>

namespace peercoll {

class Execution {
public:
    // All must outlive the object.
    Execution(Node& node, ProcessDevices& devices, const Call& call, const std::function<Status()>& set_up_devices)
        : node_(&node), devices_(&devices), call_(&call), set_up_(&set_up_devices) {}

    // Whether `call` needs more than its host operation. Asked once for each call, on all ranks for the same calls.
    static bool is_due(Node& node, ProcessDevices& devices, const Call& call) {
        if (is_due_for_all(node)) return true;
        if (call.kind == PEERCOLL_BROADCAST && !node.devices_tried) {
            ++node.broadcasts;
            if (meeting_is_due(node)) return true;
        }
        return DeviceCall::concerns(node, devices, call);
    }
    // The same before a broadcast of host memory is counted, where no runtime is in use.
    static bool is_due_for_next_broadcast(const Node& node) {
        return is_due_for_all(node) || (!node.devices_tried && (node.broadcasts & (node.broadcasts + 1)) == 0);
    }
    // What makes it due for every call.
    static bool is_due_for_all(const Node& node) {
        return node.devices != nullptr || (node.devices_wanted && !node.devices_tried);
    }
    // After an allreduce that began at `position`: whether a rank has told of a device buffer by then.
    static void hear_of_devices(Node& node, std::uint64_t position) {
        const std::uint64_t since = node.team->header().devices_since.load(std::memory_order_acquire);
        if (since != 0 && since <= position + 1) node.devices_wanted = true;
    }

    Progress progress();

    // Once Done.
    DeviceCall::Path path() const { return path_; }
    std::size_t algorithm() const { return algorithm_; }
    const std::string& not_fused_because() const { return not_fused_because_; }
    const HostCrossings& crossings() const { return crossings_; }
    // A kernel that this rank had left on its device did its part.
    bool stood_by() const { return stood_by_; }
    // Why it has failed, if it was for a device.
    const Status& status() const { return status_; }

private:
    enum class Stage : std::uint8_t { Begin, Meeting, Work };
    static bool meeting_is_due(const Node& node) { return (node.broadcasts & (node.broadcasts - 1)) == 0; }
    Progress begin();
    Progress set_up_and_start();
    Progress end();

    Node* node_;
    ProcessDevices* devices_;
    const Call* call_;
    const std::function<Status()>* set_up_;
    Stage stage_ = Stage::Begin;
    std::uint64_t position_ = 0;
    DeviceCall::Path path_ = DeviceCall::Path::Host;
    std::size_t algorithm_ = 0;
    std::string not_fused_because_;
    HostCrossings crossings_;
    bool stood_by_ = false;
    Status status_;
    std::variant<std::monostate, Operation, DeviceCall> work_;
};

}  // namespace peercoll
