// SPDX-License-Identifier: BSD-3-Clause
// Which paths hold: every rank's proofs in turn with the others', and what they have found, on all ranks.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/device_facts.hpp"
#include "plugin/peer/proof_cache.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace peercoll {

// Whether `executor`, on device `from`, can map what `owner` has on device `to`.
struct MappingTrial {
    int executor = 0;
    std::uint32_t from = 0;
    int owner = 0;
    std::uint32_t to = 0;
    bool operator<(const MappingTrial& other) const {
        return std::tie(executor, from, owner, to) < std::tie(other.executor, other.from, other.owner, other.to);
    }
};

struct PathVerdicts {
    std::map<std::pair<std::uint32_t, std::uint32_t>, ProofVerdict> paths;  // (from, to)
    std::map<MappingTrial, ProofVerdict> mappings;

    // Code Unknown if there was nothing to try.
    ProofVerdict path(std::uint32_t from, std::uint32_t to) const;
    ProofVerdict mapping(const MappingTrial& trial) const;
};

// Collective over the communicator. What the processes concerned have proven before is not proven again.
Status prove_paths(const peercoll_comm_params_t& comm, const DeviceFacts& facts, ProofCache& cache,
                   PathVerdicts& verdicts);

}  // namespace peercoll
