// SPDX-License-Identifier: BSD-3-Clause
// The meeting with which every collective begins once a communicator knows of devices: each rank says where its buffers
// are, and all then know the same.
//
//   rank 0: source, destination --+
//   rank 1: source, destination --+--> device segment --> every rank reads all
//   rank 2: source, destination --+
//
// Cost: one cache line written and p - 1 read by each rank; no device is asked for anything.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/task.hpp"

#include <cstdint>

namespace peercoll {

class DeviceMeeting {
public:
    DeviceMeeting(DeviceTeam& team, const DeviceTeam::Buffer& source, const DeviceTeam::Buffer& destination,
                  bool new_device)
        : team_(&team), source_(source), destination_(destination), new_device_(new_device) {}

    Progress progress() {
        if (step_ == 0) {
            step_ = team_->host().begin(1) + 1;
            team_->arrive(source_, destination_, new_device_, step_);
            team_->host().publish(step_);
            return Progress::Advanced;
        }
        // Not by the clocks: that would be a second line of each rank.
        for (; arrived_ < team_->size(); ++arrived_)
            if (team_->arrival(arrived_).step.load(std::memory_order_acquire) != step_) return Progress::Pending;
        team_->host().raise_floor(step_);
        team_->heed_deaths();
        return Progress::Done;
    }

private:
    DeviceTeam* team_;
    DeviceTeam::Buffer source_;
    DeviceTeam::Buffer destination_;
    bool new_device_;
    std::uint64_t step_ = 0;
    int arrived_ = 0;
};

}  // namespace peercoll
