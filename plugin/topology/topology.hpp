// SPDX-License-Identifier: BSD-3-Clause
// Where things sit, as hwloc sees the node.
#pragma once

#include "plugin/common/status.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace peercoll {

// Where one rank may run: the smallest object of each level that holds all of its processors. Fixed size, so that ranks
// can exchange it. -1: the rank's binding spans several objects of that level, or the machine has none.
// Numbers are hwloc logical indexes, the same for all ranks of a node.
struct RankPlace {
    std::int32_t package = -1;
    std::int32_t numa = -1;
    std::int32_t cache = -1;  // last-level cache shared by several cores (L3, or L2 where there is no L3)
    std::int32_t core = -1;
    std::int32_t processors = 0;  // how many PUs the rank may run on
};

enum class PlaceLevel : std::uint8_t { None, Cache, Numa, Package };

class Topology {
public:
    // `xml_file` empty: this machine. `with_io`: also PCI devices (slower; the collectives do not need it).
    static Status load(const std::string& xml_file, bool with_io, std::unique_ptr<Topology>& topology);
    virtual ~Topology() = default;

    // The place of the calling process, from the CPU binding of its main thread (sched_getaffinity). With an XML file
    // of another machine, processors that the file lacks are ignored.
    virtual RankPlace place_of_this_process() const = 0;
    // The place of a set of PUs, by operating system index.
    virtual RankPlace place_of(const std::vector<unsigned>& processors) const = 0;
    // One line per object, indented, for people.
    virtual std::vector<std::string> describe() const = 0;
};

// Groups of ranks for the hierarchical algorithms and the reduction plan: a partition of 0..places.size()-1. Groups are
// in the order of their smallest rank, ranks inside a group ascending. A pure function, so that all ranks get the same
// answer. `wanted` nullopt picks the finest level at which every rank has a place and there are at least two groups of
// which one has at least two ranks; if there is none, one group of all (level None). Finest is what has most groups:
// one cache may span two NUMA nodes. An explicit level that some rank has no place at gives one group, level None.
struct Grouping {
    PlaceLevel level = PlaceLevel::None;
    std::vector<std::vector<int>> groups;
};
Grouping group_ranks(const std::vector<RankPlace>& places, std::optional<PlaceLevel> wanted);

}  // namespace peercoll
