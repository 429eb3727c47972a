// SPDX-License-Identifier: BSD-3-Clause
// Numbers and sets as people read them.
#include "plugin/topology/describe.hpp"
#include "plugin/topology/hwloc_topology.hpp"

#include <fmt/format.h>

namespace peercoll::describing {

std::string bytes_text(std::uint64_t bytes) {
    double value = static_cast<double>(bytes);
    const char* unit = "B";
    for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
        if (value < 1023.95) {  // what would be printed as 1024.0 is one of the larger unit
            break;
        }
        value /= 1024;
        unit = larger;
    }
    // One digit behind the point, and none where it would be zero.
    const std::string digits = fmt::format("{:.1f}", value);
    return fmt::format("{} {}", digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits, unit);
}

std::string count_text(std::uint64_t count, const std::string& noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string set_text(hwloc_const_bitmap_t set) {
    std::vector<int> members;
    for (int member = hwloc_bitmap_first(set); member != -1; member = hwloc_bitmap_next(set, member)) {
        members.push_back(member);
    }
    std::string text;
    for (std::size_t first = 0; first < members.size();) {
        // The longest run of equal steps. Two members at a distance are no run yet: "0,128" reads better than
        // "0-128:128".
        const int step = first + 1 < members.size() ? members[first + 1] - members[first] : 1;
        std::size_t last = first;
        while (last + 1 < members.size() && members[last + 1] - members[last] == step) {
            ++last;
        }
        if (step != 1 && last - first < 2) {
            last = first;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", members[first]);
        if (last > first) {
            text += fmt::format("-{}", members[last]);
        }
        if (last > first && step != 1) {
            text += fmt::format(":{}", step);
        }
        first = last + 1;
    }
    return text;
}

std::string info_text(hwloc_obj_t object, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (const char* value = hwloc_obj_get_info_by_name(object, name); value != nullptr) {
            std::string text = value;
            text.erase(text.find_last_not_of(' ') + 1);  // processors pad their names
            if (!text.empty()) {
                return text;
            }
        }
    }
    return {};
}

std::string pci_id_text(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", device.domain, device.bus, device.dev, device.func);
}

}  // namespace peercoll::describing
