// SPDX-License-Identifier: BSD-3-Clause
// Who a process is, for deciding what it can share with another: by kernel facts, never by host name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace peercoll {

// Exchanged as bytes between the ranks of one communicator.
struct ProcessIdentity {
    std::uint64_t boot_id = 0;     // hash of the kernel's boot id: which running kernel
    std::uint64_t shm_device = 0;  // of /dev/shm: containers that share it can share a segment
    std::uint64_t pid_namespace = 0;
    std::uint64_t user_namespace = 0;
    std::uint64_t start_time = 0;  // of the process, in clock ticks since boot: tells a reused pid
    std::int32_t pid = 0;
    std::uint32_t uid = 0;

    static ProcessIdentity of_this_process();
    bool operator==(const ProcessIdentity&) const = default;
};

// The node each rank is on: 0, 1, ... in the order of their first rank. Two ranks are on one node if they run on the
// same kernel, as the same user, with the same /dev/shm.
std::vector<int> nodes_of(const std::vector<ProcessIdentity>& ranks);

// Whether processes can open each other's descriptors and read each other's memory by pid: same pid and user namespace.
bool share_namespaces(const ProcessIdentity& a, const ProcessIdentity& b);

// False only if the process is certainly gone (or a zombie). Processes of another pid namespace are taken to live.
bool is_alive(const ProcessIdentity& process, const ProcessIdentity& self);

}  // namespace peercoll
