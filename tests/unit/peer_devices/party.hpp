// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in making the DevicePeers of a group.
#pragma once

#include "plugin/peer/device_peers.hpp"
#include "tests/support/process_group.hpp"

#include <memory>
#include <string>
#include <vector>

namespace peercoll::test {

class Party {
public:
    Party(Exchange exchange, const peercoll_device_runtime_t& runtime);
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;

    // On the runtime, or on none.
    Status set_up(const DevicePolicy& policy, ProofCache& cache, bool with_runtime = true);

    std::unique_ptr<DevicePeers> peers;
    std::vector<ProcessIdentity> identities;
    int allgathers = 0;  // of set_up so far

private:
    static int allgather(const void* mine, void* all, std::size_t bytes, void* user);

    Exchange exchange_;
    const peercoll_device_runtime_t& runtime_;
};

// 1 for each (executor, from, owner, to) that may be reached, as text of all ranks and devices, for comparing.
std::string reach_table(const DevicePeers& peers, int ranks);

}  // namespace peercoll::test
