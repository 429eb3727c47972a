// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator tell each other about their devices, as the base of every decision.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/identity.hpp"
#include "plugin/peer/pair_matrix.hpp"

#include <peercoll/device.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace peercoll {

// Where ranks differ, the most cautious word counts: the lowest level, any veto, a proof if one rank wants it.
struct DevicePolicy {
    PeerLevel level = PeerLevel::All;
    bool prove = true;
    std::string veto;  // veto_words.hpp: "UUID-or-PCI-id,UUID-or-PCI-id ..."
    std::chrono::milliseconds proof_limit{5000};
    // Any rank's kernels may act for others, not just each device's executor(). More mappings to prove.
    bool every_rank_executes = false;
};

// A device as this process knows it.
struct LocalDevice {
    const peercoll_device_runtime_t* runtime = nullptr;  // null: not visible here
    std::int32_t device = -1;
};

struct DeviceFacts {
    DevicePolicy policy;  // what all ranks' words together say; no veto words, they are in the matrix
    PairMatrix matrix;
    std::vector<LocalDevice> local;                              // for each device of the matrix
    std::set<std::pair<std::uint32_t, std::uint32_t>> possible;  // (from, to): the matrix has a trial

    bool both_ways(std::uint32_t from, std::uint32_t to) const {
        return possible.contains({from, to}) && possible.contains({to, from});
    }
};

// Collective over the communicator. All ranks end alike.
Status exchange_device_facts(const std::vector<const peercoll_device_runtime_t*>& runtimes,
                             const peercoll_comm_params_t& comm, const std::vector<ProcessIdentity>& identities,
                             const std::vector<int>& node_of, const DevicePolicy& policy, DeviceFacts& facts);

}  // namespace peercoll
