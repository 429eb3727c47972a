// SPDX-License-Identifier: BSD-3-Clause
// GPUs, network cards and other devices, where they hang in the tree. Only bridges with several branches are shown:
// they say what shares a PCIe switch; a chain of bridges says nothing.
#include "plugin/topology/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peercoll::describing {
namespace {

std::vector<hwloc_obj_t> io_objects_below(hwloc_obj_t parent) {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t child = parent->io_first_child; child != nullptr; child = child->next_sibling) {
        objects.push_back(child);
    }
    return objects;
}

bool computes(hwloc_obj_t os_device) {
    return os_device->type == HWLOC_OBJ_OS_DEVICE &&
           (os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC ||
            // A display controller of the board has a card node too; a GPU's management library names itself.
            (os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU && os_device->subtype != nullptr));
}

struct PciClass {
    unsigned value;
    unsigned mask;
    const char* name;
};
// PCI's base class is the upper byte. First match.
constexpr std::array<PciClass, 10> pci_classes{{
    {0x0207, 0xffff, "InfiniBand adapter"},
    {0x0200, 0xff00, "Network adapter"},
    {0x0302, 0xffff, "GPU"},
    {0x0300, 0xff00, "Display adapter"},
    {0x0b40, 0xffff, "Co-processor"},
    {0x1200, 0xff00, "Accelerator"},
    {0x0108, 0xffff, "NVMe disk"},
    {0x0100, 0xff00, "Storage"},
    {0x0680, 0xffff, "Switch"},
    {0x0000, 0x0000, "Device"},
}};

std::string kind_of(hwloc_obj_t device, const std::vector<hwloc_obj_t>& os_devices) {
    const auto found = std::find_if(pci_classes.begin(), pci_classes.end(), [&](const PciClass& entry) {
        return (device->attr->pcidev.class_id & entry.mask) == entry.value;
    });
    const bool is_display = device->attr->pcidev.class_id >> 8 == 0x03;
    return is_display && std::any_of(os_devices.begin(), os_devices.end(), computes) ? "GPU" : found->name;
}

// The name a person knows: what the driver says of the device first, then the PCI database.
std::string model_of(hwloc_obj_t device, const std::vector<hwloc_obj_t>& os_devices) {
    for (const hwloc_obj_t os_device : os_devices) {
        if (std::string model = info_text(os_device, {"GPUModel"}); !model.empty()) {
            return model;
        }
    }
    const std::string vendor = info_text(device, {"PCIVendor"});
    const std::string name = info_text(device, {"PCIDevice"});
    if (vendor.empty() && name.empty()) {
        return fmt::format("[{:04x}:{:04x}]", device->attr->pcidev.vendor_id, device->attr->pcidev.device_id);
    }
    return vendor.empty() || name.empty() ? vendor + name : vendor + " " + name;
}

std::string os_device_text(hwloc_obj_t os_device) {
    std::string text = os_device->name != nullptr ? os_device->name : "unnamed";
    if (const std::string uuid = info_text(os_device, {"NVIDIAUUID", "AMDUUID", "LevelZeroUUID"}); !uuid.empty()) {
        text += fmt::format(" (UUID {})", uuid);
    }
    return text;
}

std::string pci_line(hwloc_obj_t device) {
    const std::vector<hwloc_obj_t> os_devices = io_objects_below(device);
    std::string line = fmt::format("{} {}: {}", kind_of(device, os_devices), pci_id_text(device->attr->pcidev),
                                   model_of(device, os_devices));
    for (const hwloc_obj_t os_device : os_devices) {
        line += fmt::format(", {}", os_device_text(os_device));
    }
    return line;
}

std::string bridge_line(hwloc_obj_t bridge) {
    const auto& attr = bridge->attr->bridge;
    const char* name = attr.upstream_type == HWLOC_OBJ_BRIDGE_HOST ? "PCI host bridge" : "PCIe switch";
    if (attr.downstream_type != HWLOC_OBJ_BRIDGE_PCI) {
        return name;
    }
    return fmt::format("{}, buses {:04x}:{:02x}-{:02x}", name, attr.downstream.pci.domain,
                       attr.downstream.pci.secondary_bus, attr.downstream.pci.subordinate_bus);
}

}  // namespace

void io_children(hwloc_obj_t parent, int depth, Lines& lines) {
    for (const hwloc_obj_t child : io_objects_below(parent)) {
        switch (child->type) {
            case HWLOC_OBJ_BRIDGE: {
                const bool branches = child->io_arity > 1;
                if (branches) {
                    lines.add(depth, bridge_line(child));
                }
                io_children(child, branches ? depth + 1 : depth, lines);
                break;
            }
            case HWLOC_OBJ_PCI_DEVICE:
                lines.add(depth, pci_line(child));
                break;
            default:  // a device of the operating system on no PCI bus that hwloc sees
                lines.add(depth, fmt::format("Device {}", os_device_text(child)));
                break;
        }
    }
}

}  // namespace peercoll::describing
