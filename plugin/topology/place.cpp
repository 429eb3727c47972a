// SPDX-License-Identifier: BSD-3-Clause
// Where a set of processors sits: the object of each level that holds all of it.
#include "plugin/topology/hwloc_topology.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>

namespace peercoll {
namespace {

constexpr std::int32_t no_place = -1;

std::int32_t object_holding(hwloc_topology_t topology, int depth, hwloc_const_bitmap_t processors) {
    // Depths below zero are levels that the machine lacks, or that have no single depth.
    for (hwloc_obj_t object = nullptr;
         depth >= 0 && (object = hwloc_get_next_obj_by_depth(topology, depth, object)) != nullptr;) {
        if (hwloc_bitmap_isincluded(processors, object->cpuset) != 0) {
            return static_cast<std::int32_t>(object->logical_index);
        }
    }
    return no_place;
}

// The NUMA node a processor belongs to: the most local one. Nodes without processors belong to nobody; where several
// are equally local (DRAM and HBM of one package) the first is it, which is DRAM.
hwloc_obj_t home_node(hwloc_topology_t topology, unsigned processor) {
    hwloc_obj_t home = nullptr;
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
        if (hwloc_bitmap_isset(node->cpuset, processor) != 0 &&
            (home == nullptr || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(home->cpuset))) {
            home = node;
        }
    }
    return home;
}

// Asked of each processor and not of the set: memory attached to the whole machine (CXL) holds every set, but is
// home to none where there are nearer nodes.
std::int32_t numa_node_of(hwloc_topology_t topology, hwloc_const_bitmap_t processors) {
    hwloc_obj_t common = nullptr;
    for (int processor = hwloc_bitmap_first(processors); processor != -1;
         processor = hwloc_bitmap_next(processors, processor)) {
        hwloc_obj_t home = home_node(topology, static_cast<unsigned>(processor));
        if (home == nullptr || (common != nullptr && home != common)) {
            return no_place;
        }
        common = home;
    }
    return common == nullptr ? no_place : static_cast<std::int32_t>(common->logical_index);
}

// `processors` holds only processors of the machine.
RankPlace place_of_set(hwloc_topology_t topology, hwloc_const_bitmap_t processors) {
    RankPlace place;
    if (hwloc_bitmap_iszero(processors) != 0) {
        return place;
    }
    place.processors = hwloc_bitmap_weight(processors);
    place.package = object_holding(topology, hwloc_get_type_depth(topology, HWLOC_OBJ_PACKAGE), processors);
    place.numa = numa_node_of(topology, processors);
    place.cache = object_holding(topology, shared_cache_depth(topology), processors);
    place.core = object_holding(topology, hwloc_get_type_depth(topology, HWLOC_OBJ_CORE), processors);
    return place;
}

// The processors the process's main thread may run on. Not the union over all threads: helper threads are often bound
// elsewhere. Asked of the kernel and not of hwloc, which answers nothing when it shows another machine.
std::vector<unsigned> processors_of_this_process() {
    std::vector<unsigned> processors;
    // The kernel refuses a mask shorter than its own (EINVAL), and its own may be longer than cpu_set_t's 1024.
    constexpr std::size_t most_processors = std::size_t{1} << 20;
    for (std::size_t bits = CPU_SETSIZE; bits <= most_processors; bits *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(bits);
        std::vector<cpu_set_t> mask((bytes + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
        if (sched_getaffinity(getpid(), bytes, mask.data()) == 0) {
            for (unsigned processor = 0; processor < bits; ++processor) {
                if (CPU_ISSET_S(processor, bytes, mask.data())) {
                    processors.push_back(processor);
                }
            }
            break;
        }
        if (errno != EINVAL) {
            break;  // refused: a place is not known, and that is what the empty set says
        }
    }
    return processors;
}

}  // namespace

int shared_cache_depth(hwloc_topology_t topology) {
    // Some virtual machines show processors without cores.
    const bool has_cores = hwloc_get_type_depth(topology, HWLOC_OBJ_CORE) >= 0;
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
        const int depth = hwloc_get_type_depth(topology, type);
        for (hwloc_obj_t cache = nullptr;
             depth >= 0 && (cache = hwloc_get_next_obj_by_depth(topology, depth, cache)) != nullptr;) {
            if (hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset,
                                                       has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU) > 1) {
                return depth;
            }
        }
    }
    return HWLOC_TYPE_DEPTH_UNKNOWN;
}

RankPlace HwlocTopology::place_of(const std::vector<unsigned>& processors) const {
    const HwlocBitmap known(hwloc_bitmap_alloc());
    if (!known) {
        return {};
    }
    // Online processors only: the machine's complete set also has those that are switched off.
    const hwloc_const_bitmap_t online = hwloc_topology_get_topology_cpuset(handle_.get());
    for (const unsigned processor : processors) {
        if (hwloc_bitmap_isset(online, processor) != 0) {
            hwloc_bitmap_set(known.get(), processor);
        }
    }
    return place_of_set(handle_.get(), known.get());
}

RankPlace HwlocTopology::place_of_this_process() const {
    return place_of(processors_of_this_process());
}

}  // namespace peercoll
