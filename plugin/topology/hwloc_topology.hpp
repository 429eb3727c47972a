// SPDX-License-Identifier: BSD-3-Clause
// The one implementation of Topology, over a loaded hwloc topology that is never changed afterwards.
#pragma once

#include "plugin/topology/topology.hpp"

#include <hwloc.h>

#if HWLOC_API_VERSION < 0x00020000
#error "peercoll needs hwloc 2.0 or later"
#endif

namespace peercoll {

struct FreeHwlocTopology {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopologyHandle = std::unique_ptr<hwloc_topology, FreeHwlocTopology>;

struct FreeHwlocBitmap {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
// May be null when memory is short, as hwloc_bitmap_alloc() may.
using HwlocBitmap = std::unique_ptr<hwloc_bitmap_s, FreeHwlocBitmap>;

class HwlocTopology final : public Topology {
public:
    explicit HwlocTopology(HwlocTopologyHandle handle) : handle_(std::move(handle)) {}

    RankPlace place_of_this_process() const override;
    RankPlace place_of(const std::vector<unsigned>& processors) const override;
    std::vector<std::string> describe() const override;

private:
    HwlocTopologyHandle handle_;
};

// The level of the last-level cache that several cores share: L3, or L2 where L3 is missing or private to each core.
// HWLOC_TYPE_DEPTH_UNKNOWN if no cache is shared.
int shared_cache_depth(hwloc_topology_t topology);

}  // namespace peercoll
