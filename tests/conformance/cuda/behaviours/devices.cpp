// SPDX-License-Identifier: BSD-3-Clause
// How devices are told apart.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gpu.hpp"

#include <array>
#include <cctype>
#include <cstring>
#include <set>
#include <string>

namespace peercoll::conformance::cuda {

namespace {

void identity(Scene& scene) {
    need_devices(scene, 1);
    int count = 0;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&count));
    std::set<std::string> uuids;
    std::set<std::string> pci_ids;
    bool found_again = true;
    bool shaped = true;
    for (int i = 0; i < count; ++i) {
        CUuuid uuid{};
        std::array<char, 16> pci{};
        need("cuDeviceGetUuid", driver().cuDeviceGetUuid(&uuid, i));
        need("cuDeviceGetPCIBusId", driver().cuDeviceGetPCIBusId(pci.data(), pci.size(), i));
        uuids.emplace(reinterpret_cast<const char*>(uuid.bytes), sizeof uuid.bytes);
        const std::string id(pci.data());
        pci_ids.insert(id);
        // 0000:1B:00.0
        shaped &= id.size() == 12 && id[4] == ':' && id[7] == ':' && id[10] == '.';
        CUdevice device = -1;
        found_again &= driver().cuDeviceGetByPCIBusId(&device, id.c_str()) == success && device == i;
    }
    const auto all = static_cast<std::size_t>(count);
    scene.expect("every UUID is another", true, uuids.size() == all);
    scene.expect("every PCI id is another", true, pci_ids.size() == all);
    scene.expect("PCI ids are domain:bus:device.function", true, shaped);
    scene.expect("a device is found by its PCI id", true, found_again);
    std::array<char, 16> pci{};
    scene.expect("a PCI id of 4 characters' room", invalid_value, driver().cuDeviceGetPCIBusId(pci.data(), 4, 0));
}

void numbers_out_of_range(Scene& scene) {
    need_devices(scene, 1);
    int count = 0;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&count));
    CUdevice device = -1;
    scene.expect("the device behind the last", invalid_device, driver().cuDeviceGet(&device, count));
    scene.expect("device -1", invalid_device, driver().cuDeviceGet(&device, -1));
    int value = 0;
    scene.expect("an attribute of the device behind the last", invalid_device,
                 driver().cuDeviceGetAttribute(&value, device_unified_addressing, count));
}

void attributes(Scene& scene) {
    const Gpu gpu(scene);
    // The plugin does without the others where they are missing.
    scene.expect("unified addressing", 1, gpu.attribute(device_unified_addressing));
    scene.observe("virtual memory management", gpu.attribute(device_vmm_supported));
    scene.observe("export by POSIX descriptor", gpu.attribute(device_posix_fd_supported));
    scene.observe("memory pools", gpu.attribute(device_memory_pools_supported));
    scene.observe("64-bit stream memory operations", gpu.attribute(device_64_bit_stream_mem_ops));
    scene.expect("interprocess events", 1, gpu.attribute(device_ipc_events_supported));
}

void memory_size(Scene& scene) {
    const Gpu gpu(scene);
    std::size_t total = 0;
    std::size_t free = 0;
    std::size_t usable = 0;
    scene.expect("total", success, driver().cuDeviceTotalMem(&total, gpu.device()));
    scene.expect("free and usable", success, driver().cuMemGetInfo(&free, &usable));
    scene.expect("some is free", true, free > 0 && free <= usable);
    scene.expect("usable at most total", true, usable <= total);
    CUdeviceptr address = 0;
    scene.expect("more than there is", 2, driver().cuMemAlloc(&address, total + MiB));
    scene.expect("nothing", invalid_value, driver().cuMemAlloc(&address, 0));
}

void itself_as_peer(Scene& scene) {
    const Gpu gpu(scene);
    int can = -1;
    scene.expect("can access itself: code", success, driver().cuDeviceCanAccessPeer(&can, gpu.device(), gpu.device()));
    scene.expect("can access itself", 0, can);
    int value = -1;
    scene.expect("link attribute to itself", invalid_device,
                 driver().cuDeviceGetP2PAttribute(&value, 2, gpu.device(), gpu.device()));
    scene.expect("enable access to the own context", peer_access_unsupported,
                 driver().cuCtxEnablePeerAccess(gpu.context(), 0));
    scene.expect("disable what was not enabled", peer_access_not_enabled,
                 driver().cuCtxDisablePeerAccess(gpu.context()));
}

}  // namespace

void add_devices(Suite& suite) {
    suite.enter("devices");
    suite.add("a device has one UUID and one PCI id", identity);
    suite.add("numbers out of range are refused", numbers_out_of_range);
    suite.add("attributes that the plugin builds on", attributes);
    suite.add("memory sizes, and allocations that cannot be", memory_size);
    suite.add("a device is no peer of itself", itself_as_peer);
}

}  // namespace peercoll::conformance::cuda
