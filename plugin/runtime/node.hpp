// SPDX-License-Identifier: BSD-3-Clause
// Node: what a communicator knows of its node once set up. Outlives the communicator if the pool keeps it.
#pragma once

#include "collectives/device/device_team.hpp"
#include "collectives/host/host_team.hpp"
#include "plugin/peer/identity.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/statistics.hpp"
#include "plugin/runtime/trials.hpp"
#include "plugin/topology/topology.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace peercoll {

// A mapped segment; released with the object.
class Segment {
public:
    Segment() = default;
    Segment(Segment&& other) noexcept { *this = std::move(other); }
    Segment& operator=(Segment&& other) noexcept {
        std::swap(share_, other.share_);
        std::swap(counted_, other.counted_);
        return *this;
    }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();
    peercoll_share_t& share() { return share_; }
    std::byte* address() const { return static_cast<std::byte*>(share_.address); }
    std::size_t bytes() const { return share_.bytes; }
    // Counts a mapped segment in "segment.bytes" and "segment.count" for as long as it is mapped. Once.
    void count_in(Statistics& statistics);

private:
    static peercoll_share_t empty() {
        peercoll_share_t none{};
        none.fd = -1;
        return none;
    }
    peercoll_share_t share_ = empty();
    Statistics* counted_ = nullptr;
};

struct Node {
    std::vector<ProcessIdentity> identities;  // by rank
    std::vector<int> node_of;                 // by rank
    bool crowded = false;                     // more ranks than processors
    Agreed agreed;
    Trials trials;
    PlaceLevel group_level = PlaceLevel::None;
    std::string segment_path;      // for people: "anonymous shared memory"
    std::string single_copy_path;  // "cma", "xpmem", or "off: why"
    std::uint64_t id = 0;          // random, the same on all its ranks
    Segment segment;
    std::unique_ptr<HostTeam> team;  // refers to `segment`
    // Device buffers: agreed by all ranks that there shall be a device team, and what came of it.
    bool devices_wanted = false;
    bool devices_tried = false;
    std::string devices_reason;    // why there is no device team, once tried
    std::uint64_t broadcasts = 0;  // without a device team
    Segment device_segment;
    std::unique_ptr<DeviceTeam> devices;  // refers to `team` and `device_segment`
};

}  // namespace peercoll
