// SPDX-License-Identifier: BSD-3-Clause
// DevicePeers: the devices that the ranks of a communicator use, and who may reach whose memory on them. Made once for
// a communicator, collectively; the same on all its ranks.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/device_facts.hpp"
#include "plugin/peer/identity.hpp"
#include "plugin/peer/pair_matrix.hpp"
#include "plugin/peer/proof_cache.hpp"
#include "plugin/peer/proof_rounds.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace peercoll {

class DevicePeers {
public:
    // Collective over the communicator, by its allgather. `runtimes`: those open in this process, maybe none, not the
    // same on all ranks; they stay open as long as the result lives. All ranks end alike: PEERCOLL_ERR_CALLBACK if the
    // allgather failed, PEERCOLL_ERR_INVALID_ARGUMENT if a rank's veto words do not parse; what cannot be reached is no
    // error. With no runtime on any rank it is one small allgather.
    static Status set_up(const std::vector<const peercoll_device_runtime_t*>& runtimes,
                         const peercoll_comm_params_t& comm, const std::vector<ProcessIdentity>& identities,
                         const std::vector<int>& node_of, const DevicePolicy& policy, ProofCache& cache,
                         std::unique_ptr<DevicePeers>& peers);

    // In the order of their first rank, then of that rank's own.
    const std::vector<PeerDevice>& devices() const { return facts_.matrix.devices(); }

    // Of a device of this process; nothing if it became active after set_up.
    std::optional<std::uint32_t> index_of(const peercoll_device_runtime_t& runtime, std::int32_t device) const;
    // Its number in this process; -1 if it is not visible here.
    std::int32_t local_device(std::uint32_t index) const;
    // The runtime of a device that is visible here, else null.
    const peercoll_device_runtime_t* local_runtime(std::uint32_t index) const;

    // Whether the kernels and copies that `executor` starts on device `from` may read and write what `owner` has on
    // device `to`. The same on all ranks, and for a pair of devices in both directions alike. Not thread safe.
    bool may_reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const;

    // One line for people on how the two ranks' devices (each one's first) reach each other, or why not.
    std::string path_text(int a, int b) const;

private:
    std::string name_of(int rank, std::uint32_t device) const;
    std::optional<std::uint32_t> first_device(int rank) const;
    bool may_execute(int rank, std::uint32_t device) const;
    // Empty if it may be reached.
    std::string why_not(int executor, std::uint32_t from, int owner, std::uint32_t to) const;

    bool find_reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const;

    DeviceFacts facts_;
    PathVerdicts verdicts_;
    // Answers of find_reach() by (executor, from, owner, to), 0 where it was not asked yet: every collective asks for
    // all ranks. Empty for communicators that are too large for it.
    mutable std::vector<std::uint8_t> reaches_;
};

}  // namespace peercoll
