// SPDX-License-Identifier: BSD-3-Clause
// The proof of a communicator's wire, before its first collective: LinkProof with a time limit. It can only veto, and
// what it finds is one rank's word; whether the communicator is served all ranks decide together (hosts_setup.cpp).
#pragma once

#include "plugin/runtime/context.hpp"
#include "plugin/runtime/hosts/hosts.hpp"

#include <cstdint>
#include <vector>

namespace peercoll {

// Sequences of the link that the proof uses, from 0 on.
inline constexpr std::uint64_t wire_proof_sequences = 1;

// By the ranks `leading`, one of each node, at the same time; each has its link. PEERCOLL_ERR_NOT_SUPPORTED: the
// wire to some rank does not carry messages, and which.
Status prove_wire(Context& context, const peercoll_comm_params_t& comm, const std::vector<int>& leading, Hosts& hosts);

}  // namespace peercoll
