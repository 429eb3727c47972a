// SPDX-License-Identifier: BSD-3-Clause
// What there is to prove on each node, and who has a part in it: a pure function of the exchanged facts, so that all
// ranks know the whole agenda and meet in the same rounds.
#pragma once

#include "plugin/peer/device_facts.hpp"
#include "plugin/peer/proof_rounds.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

struct PathItem {
    PathTrial trial;
    std::size_t slot = 0;  // of the owner's buffer: its number among the trials with this owner and device
};

// Of one node.
struct ProofAgenda {
    std::vector<PathItem> paths;
    std::vector<MappingTrial> mappings;
    std::size_t size() const { return paths.size() + mappings.size(); }
};

// One for each node, in the order of their numbers.
std::vector<ProofAgenda> make_agendas(const DeviceFacts& facts);

// Gives the trials that are left their places in the owners' buffers.
void number_slots(ProofAgenda& agenda);

// The devices of `rank` that somebody will map, ascending.
std::vector<std::uint32_t> offered_devices(const ProofAgenda& agenda, int rank);

// How many trials write to what `owner` has on `device`.
std::size_t trials_at(const ProofAgenda& agenda, int owner, std::uint32_t device);

}  // namespace peercoll
