// SPDX-License-Identifier: BSD-3-Clause
// Devices and contexts: a thread has none before it chooses, and choosing counts.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

#include <set>
#include <thread>

namespace peercoll::conformance::ascend {

namespace {

void without_a_context(Scene& scene) {
    need_devices(scene, 1);
    std::int32_t device = -1;
    AclContext context = nullptr;
    void* address = nullptr;
    AclStream stream = nullptr;
    scene.expect("current device", code::rt_context_null, lib().aclrtGetDevice(&device));
    scene.expect("current context", code::rt_context_null, lib().aclrtGetCurrentContext(&context));
    scene.expect("allocate", code::rt_context_null, lib().aclrtMalloc(&address, 4096, malloc_huge_first_p2p));
    scene.expect("make a stream", code::rt_context_null, lib().aclrtCreateStream(&stream));
    scene.expect("enable a peer", code::rt_context_null, lib().aclrtDeviceEnablePeerAccess(1, 0));
}

void of_each_thread(Scene& scene) {
    const Npu npu(scene);
    std::int32_t device = -1;
    scene.expect("the thread that chose", code::success, lib().aclrtGetDevice(&device));
    scene.expect("has", 0, device);
    AclContext mine = nullptr;
    need("aclrtGetCurrentContext", lib().aclrtGetCurrentContext(&mine));
    AclError before = 0;
    AclError after = 0;
    AclContext theirs = nullptr;
    std::thread([&] {
        std::int32_t unused = -1;
        before = lib().aclrtGetDevice(&unused);
        after = lib().aclrtSetDevice(0);
        (void)lib().aclrtGetCurrentContext(&theirs);
        (void)lib().aclrtResetDevice(0);
    }).join();
    scene.expect("another thread", code::rt_context_null, before);
    scene.expect("it chooses", code::success, after);
    scene.expect("the same context", true, theirs == mine);
}

void choosing_counts(Scene& scene) {
    need_devices(scene, 1);
    need("aclrtSetDevice", lib().aclrtSetDevice(0));
    need("aclrtSetDevice", lib().aclrtSetDevice(0));
    scene.expect("reset", code::success, lib().aclrtResetDevice(0));
    std::int32_t device = -1;
    scene.expect("it is still in use", code::success, lib().aclrtGetDevice(&device));
    scene.expect("reset the last time", code::success, lib().aclrtResetDevice(0));
    scene.expect("then it is not", code::rt_context_null, lib().aclrtGetDevice(&device));
    scene.expect("reset once too often succeeds", false, lib().aclrtResetDevice(0) == code::success);
}

// Of Huawei's sample; the plugin never does it, since it ends others' use as well.
void by_force(Scene& scene) {
    need_devices(scene, 1);
    need("aclrtSetDevice", lib().aclrtSetDevice(0));
    need("aclrtSetDevice", lib().aclrtSetDevice(0));
    scene.expect("reset by force", code::success, lib().aclrtResetDeviceForce(0));
    std::int32_t device = -1;
    scene.expect("whatever the count, it is not in use", code::rt_context_null, lib().aclrtGetDevice(&device));
}

void numbers_out_of_range(Scene& scene) {
    need_devices(scene, 1);
    std::uint32_t count = 0;
    need("aclrtGetDeviceCount", lib().aclrtGetDeviceCount(&count));
    scene.expect("choose the device behind the last", code::rt_invalid_device,
                 lib().aclrtSetDevice(static_cast<std::int32_t>(count)));
    scene.expect("choose device -1", code::rt_invalid_device, lib().aclrtSetDevice(-1));
}

void identity(Scene& scene) {
    need_devices(scene, 1);
    std::uint32_t count = 0;
    need("aclrtGetDeviceCount", lib().aclrtGetDeviceCount(&count));
    scene.expect("the kind begins with Ascend", true, soc().starts_with("Ascend"));
    std::set<std::int32_t> numbers;
    for (std::uint32_t user = 0; user < count; ++user) {
        std::int32_t logical = -1;
        std::int32_t physical = -1;
        need("user to logical", lib().aclrtGetLogicDevIdByUserDevId(static_cast<std::int32_t>(user), &logical));
        need("logical to physical", lib().aclrtGetPhyDevIdByLogicDevId(logical, &physical));
        numbers.insert(physical);
    }
    scene.expect("every device has a number of its own on the host", static_cast<std::size_t>(count), numbers.size());
}

void uuids(Scene& scene) {
    need_devices(scene, 1);
    std::uint32_t count = 0;
    need("aclrtGetDeviceCount", lib().aclrtGetDeviceCount(&count));
    // The documents' table of chips.
    const bool have = is_soc("Ascend910B") || is_soc("Ascend910_93") || is_soc("Ascend950");
    std::set<std::string> found;
    for (std::uint32_t device = 0; device < count; ++device) {
        AclUuid uuid{};
        const AclError error = lib().aclrtDeviceGetUuid(static_cast<std::int32_t>(device), &uuid);
        scene.expect("device " + std::to_string(device), have ? code::success : code::rt_feature_not_support, error);
        found.insert(std::string(uuid.bytes, sizeof uuid.bytes));
    }
    if (have) scene.expect("every UUID is another", static_cast<std::size_t>(count), found.size());
}

}  // namespace

void add_devices(Suite& suite) {
    suite.enter("devices");
    suite.add("a thread that chose no device has none", without_a_context);
    suite.add("threads choose for themselves, and share a context", of_each_thread);
    suite.add("choosing counts", choosing_counts);
    suite.add("a device is reset by force", by_force);
    suite.add("numbers out of range are refused", numbers_out_of_range);
    suite.add("a device has one number on the host", identity);
    suite.add("UUIDs", uuids);
}

}  // namespace peercoll::conformance::ascend
