// SPDX-License-Identifier: BSD-3-Clause
// The parts of Topology::describe(). Inside this room only.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::describing {

// The lines so far, and how deep the tree stands.
class Lines {
public:
    void add(int depth, const std::string& text) {
        lines_.push_back(std::string(2 * static_cast<std::size_t>(depth), ' ') + text);
    }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    std::vector<std::string> lines_;
};

// "512 KiB", "256 GiB", "1.5 TiB": the largest unit that leaves a number of at least one.
std::string bytes_text(std::uint64_t bytes);
// "1 core", "8 cores".
std::string count_text(std::uint64_t count, const std::string& noun);
// "0-7,128-135"; "0-30:2" for every second. `set` must be finite.
std::string set_text(hwloc_const_bitmap_t set);
// The value of the first of `names` that the object has, or "".
std::string info_text(hwloc_obj_t object, std::initializer_list<const char*> names);
// "PCI 0000:34:00.0", without the word.
std::string pci_id_text(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device);

// PCI devices and operating system devices below `parent`, with the bridges that join several of them.
void io_children(hwloc_obj_t parent, int depth, Lines& lines);
// Latency and bandwidth between objects, where hwloc knows them.
void distances(hwloc_topology_t topology, int depth, Lines& lines);

}  // namespace peercoll::describing
