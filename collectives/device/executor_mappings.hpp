// SPDX-License-Identifier: BSD-3-Clause
// What comes between the meeting and the work of device executors: each maps the buffers it will work on, owners send
// the descriptors that are asked for, and each executor says whether it is able. All ranks hear the same.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/device/select.hpp"
#include "plugin/common/inline_list.hpp"
#include "plugin/common/status.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace peercoll {

// Shortened to what an executor record has room for.
void write_reason(std::string_view sentence, ExecutorRecord& record);
std::string read_reason(const ExecutorRecord& record);

class ExecutorMappings {
public:
    explicit ExecutorMappings(DeviceTeam& team) : team_(&team) {}
    // Of the operation, in the same order on all ranks; each once, at most DeviceChoice::most_executors.
    void add_executor(int rank) { executors_.push_back(rank); }

    // -- Executors ----------------------------------------------------------------------------------------------------
    // The address of a shareable buffer of `owner` for this rank's `device`. PEERCOLL_ERR_BUSY: a descriptor is
    // awaited, call again for the same buffer.
    Status map(const peercoll_device_runtime_t& runtime, std::int32_t device, int owner, const BufferFact& fact,
               const peercoll_memory_handle_t& handle, std::uint64_t& address);
    // Of the mapped allocations, or-ed: all are multiples of its lowest bit.
    std::uint64_t sizes() const { return sizes_; }
    // Publishes `step`.
    void give_verdict(const Status& status, std::uint64_t step);

    // -- All ranks ----------------------------------------------------------------------------------------------------
    // Owners answer while they wait, also executors: the one who maps alone knows what it has mapped already.
    void answer_wanted();
    // Whether all executors have published `step`; answers while they have not.
    bool have_spoken(std::uint64_t step);
    // Once they have: whether all are able; why not, of the first that is not.
    bool all_able(std::string& reason) const;

private:
    Status send_descriptor(std::uint64_t allocation, int executor);

    DeviceTeam* team_;
    InlineList<int, DeviceChoice::most_executors> executors_;
    std::vector<std::uint64_t> answered_;  // the allocation last sent to each; empty until one asks
    std::uint64_t sizes_ = 0;
    bool awaits_descriptor_ = false;
};

}  // namespace peercoll
