// SPDX-License-Identifier: BSD-3-Clause
// Node set-up: what the ranks of a communicator tell each other at its first collective, and the host team that comes
// of it.
//
//   round 1   who I am, where I may run, what my options say          --> nodes, groups, options (rank 0's count)
//   round 2   the first rank's shared segment; everybody's proof word  --> all map the segment and read each other's
//   word round 3   whether that worked                                      --> a team, or none, decided alike by all
//
// Whatever fails on one rank is carried through all rounds and decided at their end; no rank ever leaves early.
#pragma once

#include "collectives/host/host_team.hpp"
#include "plugin/common/status.hpp"
#include "plugin/peer/identity.hpp"
#include "plugin/runtime/context.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/trials.hpp"

#include <peercoll/device.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace peercoll {

// A mapped segment; released with the object.
class Segment {
public:
    Segment() = default;
    Segment(Segment&& other) noexcept : share_(std::exchange(other.share_, empty())) {}
    Segment& operator=(Segment&& other) noexcept {
        std::swap(share_, other.share_);
        return *this;
    }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();
    peercoll_share_t& share() { return share_; }
    std::byte* address() const { return static_cast<std::byte*>(share_.address); }
    std::size_t bytes() const { return share_.bytes; }

private:
    static peercoll_share_t empty() {
        peercoll_share_t none{};
        none.fd = -1;
        return none;
    }
    peercoll_share_t share_ = empty();
};

// What a communicator knows of its node once set up.
struct Node {
    std::vector<ProcessIdentity> identities;  // by rank
    std::vector<int> node_of;                 // by rank
    bool crowded = false;                     // more ranks than processors
    Agreed agreed;
    Trials trials;
    PlaceLevel group_level = PlaceLevel::None;
    std::string segment_path;      // for people: "anonymous shared memory"
    std::string single_copy_path;  // "cma", "xpmem", or "off: why"
    Segment segment;
    std::unique_ptr<HostTeam> team;  // refers to `segment`
};

// Collective over the communicator. PEERCOLL_ERR_NOT_SUPPORTED, alike on all ranks, if they cannot be one team; then
// nothing is left behind. PEERCOLL_ERR_CALLBACK if the caller's allgather failed.
Status set_up_node(Context& context, const peercoll_comm_params_t& comm, Node& node);

}  // namespace peercoll
