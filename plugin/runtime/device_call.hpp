// SPDX-License-Identifier: BSD-3-Clause
// A collective that concerns devices: on a communicator with a device team, or with a device buffer before there is
// one.
//
//   device team:  meeting -> host operation | fused fold (refused: staged) | islands (refused: staged) | staged
//   none:         staged by this rank alone, and a note for the others that a device team is wanted
#pragma once

#include "collectives/device/fused.hpp"
#include "collectives/device/islands.hpp"
#include "collectives/device/meeting.hpp"
#include "collectives/task.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/node.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/process_devices.hpp"
#include "plugin/runtime/staged_call.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace peercoll {

class DeviceCall {
public:
    enum class Path : std::uint8_t { Undecided, Host, Staged, Islands, Fused };

    // `set_up` makes the device team anew, collectively; for when a rank has come to use another device. All must
    // outlive the object.
    DeviceCall(Node& node, ProcessDevices& devices, const Call& call, const std::function<Status()>& set_up);

    // Whether this rank must use a DeviceCall for `call`.
    static bool concerns(const Node& node, ProcessDevices& devices, const Call& call) {
        return node.devices != nullptr ||
               (devices.in_use() && (devices.classify(call.read_buffer()).runtime != nullptr ||
                                     devices.classify(call.written_buffer()).runtime != nullptr));
    }

    Progress progress();
    // Once Done.
    Path path() const { return path_; }
    // Of a host operation: index into the collective's algorithm names.
    std::size_t algorithm() const { return algorithm_; }
    // Why all ranks staged, or went by islands, what might have been fused; "" otherwise.
    const std::string& not_fused_because() const { return not_fused_because_; }
    // Of this rank's device as an actor of islands.
    const HostCrossings& crossings() const { return crossings_; }
    // This rank's device had kept a kernel for the call.
    bool stood_by() const { return stood_by_; }
    // Why it has failed, if it was for a device.
    const Status& status() const { return status_; }

private:
    void note_devices() const;
    Status meet();
    Status after_meeting();
    DeviceSituation situation() const;
    DeviceWork work_in(const DeviceSituation& situation) const;
    // The task has ended; if it was refused, on all ranks alike, they stage.
    template <typename Task>
    Progress end_of(const Task& task);
    Progress fail(Status status);
    void stage(bool agreed, bool single_copy, std::string because);

    Node* node_;
    ProcessDevices* devices_;
    Call call_;
    const std::function<Status()>* set_up_;
    int meetings_ = 0;
    Path path_ = Path::Undecided;
    std::size_t algorithm_ = 0;
    std::string not_fused_because_;
    HostCrossings crossings_;
    bool stood_by_ = false;
    Status status_;
    std::variant<std::monostate, DeviceMeeting, Operation, StagedCall, FusedFold, Islands> task_;
};

}  // namespace peercoll
