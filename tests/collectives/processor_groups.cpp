// SPDX-License-Identifier: BSD-3-Clause
#include "tests/collectives/processor_groups.hpp"

#include <gtest/gtest.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

namespace peercoll::test {
namespace {

void write_topology(int processors, const std::string& file) {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) {
        throw std::runtime_error("hwloc cannot make a topology");
    }
    const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> topology(made, hwloc_topology_destroy);
    // Two cores share each cache, or it would not be one that ranks can share: processor i is with processor n + i,
    // which nobody uses.
    std::string indexes;
    for (int i = 0; i < processors; ++i) {
        indexes += (i == 0 ? "" : ",") + std::to_string(i) + "," + std::to_string(processors + i);
    }
    const std::string shape =
        "package:1 numa:1 l3:" + std::to_string(processors) + " core:2 pu:1(indexes=" + indexes + ")";
    if (hwloc_topology_set_synthetic(made, shape.c_str()) != 0 ||
        hwloc_topology_set_all_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 || hwloc_topology_load(made) != 0 ||
        hwloc_topology_export_xml(made, file.c_str(), 0) != 0) {
        throw std::runtime_error("hwloc cannot write " + file);
    }
}

}  // namespace

std::optional<ProcessorGroups> ProcessorGroups::make() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return std::nullopt;
    }
    std::vector<int> processors;
    for (int processor = 0; processor < CPU_SETSIZE && processors.size() < 2; ++processor) {
        if (CPU_ISSET(processor, &allowed)) {
            processors.push_back(processor);
        }
    }
    if (processors.size() < 2) {
        return std::nullopt;
    }
    const std::string file = testing::TempDir() + "peercoll-groups-" + std::to_string(getpid()) + ".xml";
    write_topology(processors.back() + 1, file);
    return ProcessorGroups(file, std::move(processors));
}

ProcessorGroups::ProcessorGroups(std::string file, std::vector<int> processors)
    : file_(std::move(file)), processors_(std::move(processors)) {}

ProcessorGroups::ProcessorGroups(ProcessorGroups&& other) noexcept
    : file_(std::exchange(other.file_, {})), processors_(std::move(other.processors_)) {}

ProcessorGroups::~ProcessorGroups() {
    if (!file_.empty()) {
        std::remove(file_.c_str());
    }
}

void ProcessorGroups::bind_to(int group) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors_[static_cast<std::size_t>(group)], &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

}  // namespace peercoll::test
