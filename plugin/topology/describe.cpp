// SPDX-License-Identifier: BSD-3-Clause
// Topology::describe: the node as an indented tree. What is alike is folded, so that 192 cores stay readable:
//
//     Machine: 2 packages, 2 NUMA nodes, 16 L3 caches, 128 cores, 256 PUs, 512 GiB
//       Package 0 (the name of the processor)
//         NUMA node 0: 256 GiB, PUs 0-63,128-191
//         L3 cache 0: 32 MiB
//           Cores 0-7, each with L2 512 KiB, 2 PUs: PUs 0-7,128-135
#include "plugin/topology/describe.hpp"
#include "plugin/topology/hwloc_topology.hpp"

#include <fmt/format.h>

namespace peercoll {
namespace {

using namespace describing;

bool is_cache(hwloc_obj_t object) {
    return hwloc_obj_type_is_dcache(object->type) != 0;
}

std::string cache_name(hwloc_obj_t cache) {
    return fmt::format("L{}", cache->attr->cache.depth);
}

std::size_t cores_in(hwloc_topology_t topology, hwloc_obj_t object) {
    return static_cast<std::size_t>(hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE));
}

// A core, or a cache that belongs to one core alone, or a processor where there are no cores.
bool is_one_core(hwloc_topology_t topology, hwloc_obj_t object) {
    return object->type == HWLOC_OBJ_CORE || object->type == HWLOC_OBJ_PU ||
           (is_cache(object) && object->memory_arity == 0 && cores_in(topology, object) == 1);
}

// What distinguishes one core from another: "L2 512 KiB, L1 32 KiB, 2 PUs".
std::string core_kind(hwloc_obj_t object) {
    std::string kind;
    for (; object != nullptr && object->type != HWLOC_OBJ_PU; object = object->first_child) {
        if (is_cache(object)) {
            kind += fmt::format("{} {}, ", cache_name(object), bytes_text(object->attr->cache.size));
        }
        if (object->first_child != nullptr && object->first_child->type == HWLOC_OBJ_PU) {
            kind += count_text(object->arity, "PU");
        }
    }
    return kind;
}

// A run of neighbours that are one core each and alike.
class CoreRun {
public:
    CoreRun(hwloc_topology_t topology, hwloc_obj_t first) : topology_(topology), kind_(core_kind(first)) {}

    bool takes(hwloc_obj_t object) const { return is_one_core(topology_, object) && core_kind(object) == kind_; }
    void add(hwloc_obj_t object) { hwloc_bitmap_or(processors_.get(), processors_.get(), object->cpuset); }

    std::string text() const {
        const hwloc_obj_t first = hwloc_get_obj_inside_cpuset_by_type(topology_, processors_.get(), HWLOC_OBJ_CORE, 0);
        const int count = hwloc_get_nbobjs_inside_cpuset_by_type(topology_, processors_.get(), HWLOC_OBJ_CORE);
        std::string processors =
            fmt::format("PU{} {}", hwloc_bitmap_weight(processors_.get()) == 1 ? "" : "s", set_text(processors_.get()));
        if (first == nullptr || count < 1) {
            return processors;
        }
        // Neighbours in the tree have successive logical indexes.
        return count == 1 ? fmt::format("Core {}, with {}: {}", first->logical_index, kind_, processors)
                          : fmt::format("Cores {}-{}, each with {}: {}", first->logical_index,
                                        first->logical_index + static_cast<unsigned>(count) - 1, kind_, processors);
    }

private:
    hwloc_topology_t topology_;
    std::string kind_;
    HwlocBitmap processors_{hwloc_bitmap_alloc()};
};

std::string machine_line(hwloc_topology_t topology) {
    const hwloc_obj_t machine = hwloc_get_root_obj(topology);
    std::string line = "Machine";
    if (const std::string name = info_text(machine, {"DMIProductName", "PlatformName"}); !name.empty()) {
        line += fmt::format(" ({})", name);
    }
    const char* separator = ": ";
    const auto count = [&](hwloc_obj_type_t type, const std::string& noun) {
        if (const int objects = hwloc_get_nbobjs_by_type(topology, type); objects > 0) {
            line += separator + count_text(static_cast<std::uint64_t>(objects), noun);
            separator = ", ";
        }
    };
    count(HWLOC_OBJ_PACKAGE, "package");
    count(HWLOC_OBJ_NUMANODE, "NUMA node");
    count(HWLOC_OBJ_L3CACHE, "L3 cache");
    count(HWLOC_OBJ_CORE, "core");
    count(HWLOC_OBJ_PU, "PU");
    if (machine->total_memory > 0) {
        line += separator + bytes_text(machine->total_memory);
    }
    return line;
}

// Where a cgroup keeps this process from some of the machine.
void allowed_line(hwloc_topology_t topology, int depth, Lines& lines) {
    const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
    if (hwloc_bitmap_isincluded(hwloc_topology_get_topology_cpuset(topology), allowed) == 0) {
        lines.add(depth, fmt::format("This process is allowed PUs {} only", set_text(allowed)));
    }
}

std::string memory_line(hwloc_obj_t node) {
    std::string line = fmt::format("NUMA node {}", node->logical_index);
    if (node->os_index != node->logical_index) {
        line += fmt::format(" (numbered {} by the system)", node->os_index);
    }
    line += ": ";
    if (node->subtype != nullptr) {
        line += fmt::format("{} ", node->subtype);
    }
    line += node->attr->numanode.local_memory > 0 ? bytes_text(node->attr->numanode.local_memory)
                                                  : "memory of unknown size";
    return line +
           (hwloc_bitmap_iszero(node->cpuset) != 0 ? ", no PUs" : fmt::format(", PUs {}", set_text(node->cpuset)));
}

std::string object_line(hwloc_obj_t object) {
    if (is_cache(object)) {
        return fmt::format("{} cache {}: {}", cache_name(object), object->logical_index,
                           bytes_text(object->attr->cache.size));
    }
    std::string line = fmt::format("{} {}", hwloc_obj_type_string(object->type), object->logical_index);
    if (const std::string model = info_text(object, {"CPUModel"}); !model.empty()) {
        line += fmt::format(" ({})", model);
    }
    return line;
}

void memory_children(hwloc_obj_t parent, int depth, Lines& lines) {
    for (hwloc_obj_t child = parent->memory_first_child; child != nullptr; child = child->next_sibling) {
        if (child->type == HWLOC_OBJ_NUMANODE) {
            lines.add(depth, memory_line(child));
        } else {  // a cache on the memory's side; its nodes hang below it
            lines.add(depth, fmt::format("Memory-side cache {}: {}", child->logical_index,
                                         bytes_text(child->attr->cache.size)));
            memory_children(child, depth + 1, lines);
        }
    }
}

void children(hwloc_topology_t topology, hwloc_obj_t parent, int depth, Lines& lines) {
    memory_children(parent, depth, lines);
    for (hwloc_obj_t child = parent->first_child; child != nullptr;) {
        if (is_one_core(topology, child)) {
            const hwloc_obj_t first = child;
            CoreRun run(topology, first);
            for (; child != nullptr && run.takes(child); child = child->next_sibling) {
                run.add(child);
            }
            lines.add(depth, run.text());
            for (hwloc_obj_t core = first; core != child; core = core->next_sibling) {
                io_children(core, depth, lines);
            }
        } else {
            lines.add(depth, object_line(child));
            children(topology, child, depth + 1, lines);
            child = child->next_sibling;
        }
    }
    io_children(parent, depth, lines);
}

}  // namespace

std::vector<std::string> HwlocTopology::describe() const {
    const hwloc_topology_t topology = handle_.get();
    Lines lines;
    lines.add(0, machine_line(topology));
    allowed_line(topology, 1, lines);
    children(topology, hwloc_get_root_obj(topology), 1, lines);
    distances(topology, 1, lines);
    return lines.take();
}

}  // namespace peercoll
