// SPDX-License-Identifier: BSD-3-Clause
// Matrices of latency and bandwidth: NUMA nodes as the firmware tells them, NVLink and XGMI as the drivers do.
#include "plugin/topology/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace peercoll::describing {
namespace {

// Beyond this a matrix does not fit a terminal: its range says more.
constexpr unsigned most_columns = 32;

struct ReleaseDistances {
    hwloc_topology_t topology;
    void operator()(hwloc_distances_s* matrix) const { hwloc_distances_release(topology, matrix); }
};
using Distances = std::unique_ptr<hwloc_distances_s, ReleaseDistances>;

std::vector<Distances> all_distances(hwloc_topology_t topology) {
    unsigned count = 0;
    if (hwloc_distances_get(topology, &count, nullptr, 0, 0) != 0 || count == 0) {
        return {};
    }
    std::vector<hwloc_distances_s*> raw(count);
    if (hwloc_distances_get(topology, &count, raw.data(), 0, 0) != 0) {
        return {};
    }
    std::vector<Distances> owned;
    for (unsigned i = 0; i < std::min<std::size_t>(count, raw.size()); ++i) {
        owned.emplace_back(raw[i], ReleaseDistances{topology});
    }
    return owned;
}

// GPUs behind NVSwitches have no link to each other in hwloc's matrix, but to switch ports. Joins them through the
// switch and leaves the switch out.
void connect_through_switches(hwloc_topology_t topology, hwloc_distances_s* matrix) {
#if HWLOC_API_VERSION >= 0x00020500
    // Each refuses a matrix it does not apply to, and leaves it as it is.
    if (hwloc_distances_transform(topology, matrix, HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS, nullptr, 0) != 0 ||
        hwloc_distances_transform(topology, matrix, HWLOC_DISTANCES_TRANSFORM_TRANSITIVE_CLOSURE, nullptr, 0) != 0) {
        return;
    }
    for (unsigned i = 0; i < matrix->nbobjs; ++i) {
        const hwloc_obj_t object = matrix->objs[i];
        if (object != nullptr && object->subtype != nullptr && std::string_view(object->subtype) == "NVSwitch") {
            matrix->objs[i] = nullptr;
        }
    }
    static_cast<void>(hwloc_distances_transform(topology, matrix, HWLOC_DISTANCES_TRANSFORM_REMOVE_NULL, nullptr, 0));
#else
    static_cast<void>(topology);
    static_cast<void>(matrix);
#endif
}

std::string label(hwloc_obj_t object) {
    if (object->type == HWLOC_OBJ_NUMANODE) {
        return fmt::format("NUMA {}", object->logical_index);
    }
    if (object->type == HWLOC_OBJ_OS_DEVICE && object->name != nullptr) {
        return object->name;
    }
    if (object->type == HWLOC_OBJ_PCI_DEVICE) {
        const std::string id = pci_id_text(object->attr->pcidev);
        return object->subtype != nullptr ? fmt::format("{} {}", object->subtype, id) : id;
    }
    return fmt::format("{} {}", hwloc_obj_type_string(object->type), object->logical_index);
}

std::string title(hwloc_topology_t topology, hwloc_distances_s* matrix) {
    const char* name = hwloc_distances_get_name(topology, matrix);
    const char* meaning = "";
    if ((matrix->kind & HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH) != 0) {
        meaning = " (bandwidth: more is nearer)";
    } else if ((matrix->kind & HWLOC_DISTANCES_KIND_MEANS_LATENCY) != 0) {
        meaning = " (latency: less is nearer)";
    }
    return fmt::format("{}{}", name != nullptr ? name : "Distances", meaning);
}

struct Range {
    hwloc_uint64_t low = ~hwloc_uint64_t{0};
    hwloc_uint64_t high = 0;
};

// Of the values between different objects: what the diagonal says is not measured but a convention.
Range range_of(const hwloc_distances_s& matrix) {
    Range range;
    for (unsigned row = 0; row < matrix.nbobjs; ++row) {
        for (unsigned column = 0; column < matrix.nbobjs; ++column) {
            if (row != column) {
                range.low = std::min(range.low, matrix.values[row * matrix.nbobjs + column]);
                range.high = std::max(range.high, matrix.values[row * matrix.nbobjs + column]);
            }
        }
    }
    return range;
}

std::vector<std::string> labels_of(const hwloc_distances_s& matrix) {
    std::vector<std::string> labels;
    for (unsigned i = 0; i < matrix.nbobjs; ++i) {
        labels.push_back(matrix.objs[i] != nullptr ? label(matrix.objs[i]) : "?");
    }
    return labels;
}

void table(const hwloc_distances_s& matrix, int depth, Lines& lines) {
    const std::vector<std::string> labels = labels_of(matrix);
    std::size_t width = 0;
    for (const std::string& text : labels) {
        width = std::max(width, text.size());
    }
    std::string head(width, ' ');
    std::vector<std::string> rows(matrix.nbobjs);
    for (unsigned row = 0; row < matrix.nbobjs; ++row) {
        rows[row] = fmt::format("{:<{}}", labels[row], width);
    }
    for (unsigned column = 0; column < matrix.nbobjs; ++column) {
        std::size_t cell = labels[column].size();
        for (unsigned row = 0; row < matrix.nbobjs; ++row) {
            cell = std::max(cell, fmt::formatted_size("{}", matrix.values[row * matrix.nbobjs + column]));
        }
        head += fmt::format("  {:>{}}", labels[column], cell);
        for (unsigned row = 0; row < matrix.nbobjs; ++row) {
            rows[row] += fmt::format("  {:>{}}", matrix.values[row * matrix.nbobjs + column], cell);
        }
    }
    lines.add(depth, head);
    for (const std::string& row : rows) {
        lines.add(depth, row);
    }
}

}  // namespace

void distances(hwloc_topology_t topology, int depth, Lines& lines) {
    for (const Distances& matrix : all_distances(topology)) {
        connect_through_switches(topology, matrix.get());
        if (matrix->nbobjs < 2) {
            continue;
        }
        const Range range = range_of(*matrix);
        if (range.low == range.high) {
            lines.add(depth, fmt::format("{}: {} between any two of {}", title(topology, matrix.get()), range.low,
                                         fmt::join(labels_of(*matrix), ", ")));
        } else if (matrix->nbobjs > most_columns) {
            lines.add(depth, fmt::format("{}: {} to {} between any two of {} objects", title(topology, matrix.get()),
                                         range.low, range.high, matrix->nbobjs));
        } else {
            lines.add(depth, title(topology, matrix.get()));
            table(*matrix, depth + 1, lines);
        }
    }
}

}  // namespace peercoll::describing
