// SPDX-License-Identifier: BSD-3-Clause
// Fused fold: allreduce and broadcast of device buffers. An executor maps every rank's buffers and launches one kernel
// that reads all inputs once and writes all outputs once. With several devices each executor does so for its part of
// the elements, so that every link carries each byte once in each direction.
//
//   rank 0: in0 --+                         +--> out0         device A: elements [0, n/2)
//   rank 1: in1 --+--> fold in plan order --+--> out1
//   rank 2: in2 --+                         +--> out2         device B: elements [n/2, n), the same way
//
// That is the two-shot shape. The one-shot shape, for two devices and for small messages: each executor folds all
// elements, and writes the outputs on its own device; not in place, since others still read the inputs.
//
// Nobody waits on a device: an executor starts when all ranks have arrived, and (two-shot) a part is read and written
// by one kernel alone, so in place is safe. The device writes a flag into the device segment when its part is done;
// that is what the ranks wait for. Processes that share a device never run kernels on it at the same time.
//
// What waits on a device is only the kernel of a small call, for the next call, where its rank alone has buffers there:
// up to FusedFold::standby(), by its own clock (kernel/standby.hpp). That saves the launch, 9 of 14 us between two
// H200s.
//
// Used when every buffer is device memory that its executors have mapped. Cost: a launch, 2 p n bytes of memory traffic
// on one device; between D devices 2 n (D - 1) / D on each link and direction for allreduce, n for broadcast.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/device/executor_mappings.hpp"
#include "collectives/device/select.hpp"
#include "collectives/reduction/plan.hpp"
#include "collectives/task.hpp"
#include "plugin/common/inline_list.hpp"
#include "plugin/device/stream_pool.hpp"

#include <peercoll/peercoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace peercoll {

struct DeviceWork {
    peercoll_collective_t collective = PEERCOLL_ALLREDUCE;
    int root = 0;             // of a broadcast
    std::uint64_t count = 0;  // elements; a broadcast's are bytes
    std::size_t element_bytes = 1;
    peercoll_datatype_t datatype = PEERCOLL_BYTE;
    peercoll_op_t op = PEERCOLL_NO_OP;
    const ReductionPlan* plan = nullptr;  // of an allreduce
    // This rank's own buffers, as it was called with them.
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
};

class FusedFold {
public:
    // Right after the meeting that told of the buffers.
    FusedFold(DeviceTeam& team, const DeviceWork& work, const DeviceChoice& choice);

    Progress progress();
    // Once Done: an executor could not do it and nothing was written; all ranks see the same, and why.
    bool refused() const { return refused_; }
    // This rank's part was done by a kernel that had stayed on the device.
    bool stood_by() const { return stood_by_ != 0; }
    // Why it was refused, or has failed.
    const std::string& reason() const { return reason_; }

private:
    enum class Stage : std::uint8_t { Begin, Map, Verdicts, Launch, Wait, End };

    bool executes() const { return mine_ != nullptr; }
    Progress map();
    void give_verdict(const Status& status);
    Progress hear_verdicts();
    Status launch();
    // How long the kernel may stay for the next call; 0 where it must not, or where that is not worth it.
    std::chrono::nanoseconds standby() const;
    void fail_on_device(const std::string& reason);
    Progress wait();
    // Looks whether the work has failed where no flag tells of it.
    void look_at_stream();

    DeviceTeam* team_;
    DeviceWork work_;
    DeviceChoice choice_;
    const Executor* mine_ = nullptr;
    const peercoll_device_runtime_t* runtime_ = nullptr;
    std::int32_t device_ = -1;
    Stage stage_ = Stage::Begin;
    std::uint64_t base_ = 0;
    std::uint32_t looks_ = 0;
    std::uint32_t rests_ = 0;
    bool flagged_ = false;  // the device writes `done`
    std::uint32_t stood_by_ = 0;
    ExecutorMappings mappings_;
    int mapped_ranks_ = 0;
    using Addresses = InlineList<std::uint64_t, PEERCOLL_FOLD_MOST>;
    Addresses sources_;       // by rank; of this executor
    Addresses destinations_;  // by rank
    LentStream stream_;
    bool refused_ = false;
    std::string reason_;
};

}  // namespace peercoll
