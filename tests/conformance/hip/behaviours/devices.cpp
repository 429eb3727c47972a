// SPDX-License-Identifier: BSD-3-Clause
// Devices: how they are told apart, and numbers that name none.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/kernels.hpp"

#include <cctype>
#include <cstdlib>
#include <set>

namespace peercoll::conformance::hip {

namespace {

void identity(Scene& scene) {
    need_devices(scene, 1);
    int count = 0;
    need("hipGetDeviceCount", lib().hipGetDeviceCount(&count));
    std::set<std::string> ids;
    bool found_again = true;
    bool attributes_agree = true;
    bool uuids_are_text = true;
    for (int device = 0; device < count; ++device) {
        char pci[64] = "";
        need("hipDeviceGetPCIBusId", lib().hipDeviceGetPCIBusId(pci, sizeof pci, device));
        int again = -1;
        found_again &= lib().hipDeviceGetByPCIBusId(&again, pci) == code::success && again == device;
        int bus = -1;
        constexpr int attribute_pci_bus = 67;  // the same in the headers of 5.2, 6.0 and 6.2
        need("hipDeviceGetAttribute", lib().hipDeviceGetAttribute(&bus, attribute_pci_bus, device));
        attributes_agree &= std::strtol(pci + 5, nullptr, 16) == bus;
        HipUuid uuid{};
        need("hipDeviceGetUuid", lib().hipDeviceGetUuid(&uuid, device));
        for (const char letter : uuid.bytes) uuids_are_text &= std::isprint(static_cast<unsigned char>(letter)) != 0;
        ids.insert(std::string(pci) + std::string(uuid.bytes, sizeof uuid.bytes));
    }
    scene.expect("UUID and PCI id together are of one device", static_cast<std::size_t>(count), ids.size());
    scene.expect("a device is found by its PCI id", true, found_again);
    scene.expect("attribute 67 is the bus of the PCI id", true, attributes_agree);
    scene.expect("UUIDs are 16 letters", true, uuids_are_text);
    char little[13] = "";
    scene.expect("a PCI id of 12 characters' room", code::invalid_value, lib().hipDeviceGetPCIBusId(little, 12, 0));
    scene.expect("of 13", code::success, lib().hipDeviceGetPCIBusId(little, 13, 0));
}

void properties(Scene& scene) {
    need_devices(scene, 1);
    const std::string architecture = architecture_of(0);
    scene.expect("the architecture begins with gfx", true, architecture.starts_with("gfx"));
    int wave = 0;
    need("hipDeviceGetAttribute", lib().hipDeviceGetAttribute(&wave, device_attribute::warp_size, 0));
    scene.expect("lanes of a wave: 64 on gfx9, else 32", architecture.starts_with("gfx9") ? 64 : 32, wave);
    int units = 0;
    need("hipDeviceGetAttribute", lib().hipDeviceGetAttribute(&units, device_attribute::multiprocessor_count, 0));
    scene.expect("it has compute units", true, units > 0);
    std::size_t total = 0;
    scene.expect("memory", code::success, lib().hipDeviceTotalMem(&total, 0));
    scene.expect("there is some", true, total > free_bytes() / 2);
}

void numbers_out_of_range(Scene& scene) {
    need_devices(scene, 1);
    int count = 0;
    need("hipGetDeviceCount", lib().hipGetDeviceCount(&count));
    scene.expect("choose the device behind the last", code::invalid_device, lib().hipSetDevice(count));
    scene.expect("choose device -1", code::invalid_device, lib().hipSetDevice(-1));
    int value = 0;
    scene.expect("an attribute of the device behind the last", code::invalid_device,
                 lib().hipDeviceGetAttribute(&value, device_attribute::warp_size, count));
    int current = -1;
    need("hipGetDevice", lib().hipGetDevice(&current));
    scene.expect("the current device is still", 0, current);
}

}  // namespace

void add_devices(Suite& suite) {
    suite.enter("devices");
    suite.add("a device has one UUID and one PCI id", identity);
    suite.add("properties that the plugin builds on", properties);
    suite.add("numbers out of range are refused", numbers_out_of_range);
}

}  // namespace peercoll::conformance::hip
