// SPDX-License-Identifier: BSD-3-Clause
// Two processes, each on its own device.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/kernels.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

// As CUDA_VISIBLE_DEVICES takes it: GPU-8 hex digits-4-4-4-12.
std::string uuid_text(CUdevice device) {
    CUuuid uuid{};
    need("cuDeviceGetUuid", driver().cuDeviceGetUuid(&uuid, device));
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits;
    }
    return text;
}

struct UuidText {
    char text[64];
};

// On device 0. Tells the reader how device 1 is called.
void owner(Scene& scene) {
    const Gpu gpu(scene, 0);
    need_devices(scene, 2);
    UuidText other{};
    uuid_text(1).copy(other.text, sizeof other.text - 1);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(other);
    scene.other().send(ipc_handle(memory.address()));
    const auto wrote = scene.other().receive<bool>();
    if (wrote)
        scene.expect("what the reader's kernel stored", true, load(memory.address(), count) == words_from(900, count));
    scene.other().say("seen");
}

void reader_on_another_device(Scene& scene) {
    const Gpu gpu(scene, 1);
    scene.other().receive<UuidText>();
    const auto handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr address = 0;
    scene.expect("open", success, driver().cuIpcOpenMemHandle(&address, handle, ipc_lazy_enable_peer_access));
    int ordinal = -1;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&ordinal, attribute_device_ordinal, address));
    scene.observe("device of the mapping", ordinal);
    {
        const Kernels kernels;
        const Memory copy(bytes);
        const Stream stream;
        need("launch", kernels.copy(stream, {copy.address(), address, count}));
        scene.expect("loads", success, stream.synchronize());
        scene.expect("what was loaded", true, load(copy.address(), count) == words_from(100, count));
        need("launch", kernels.store(stream, {address, 900, count, 0, 0}));
        scene.expect("stores", success, stream.synchronize());
    }
    scene.other().send(true);
    scene.other().hear("seen");
    scene.expect("close", success, driver().cuIpcCloseMemHandle(address));
}

void reader_that_sees_one_device(Scene& scene) {
    const auto uuid = scene.other().receive<UuidText>();
    const auto handle = scene.other().receive<CUipcMemHandle>();
    setenv("CUDA_VISIBLE_DEVICES", uuid.text, 1);
    const Gpu gpu(scene, 0);
    int there = 0;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&there));
    scene.expect("devices it sees", 1, there);
    scene.expect("that device is the one named", uuid.text, uuid_text(0));
    CUdeviceptr address = 0;
    const CUresult code = driver().cuIpcOpenMemHandle(&address, handle, ipc_lazy_enable_peer_access);
    scene.observe("open memory of a device it does not see", code);
    bool wrote = false;
    if (code == success) {
        const Kernels kernels;
        const Stream stream;
        need("launch", kernels.store(stream, {address, 900, count, 0, 0}));
        const CUresult ran = stream.synchronize();
        scene.observe("a kernel's store into it", ran);
        wrote = ran == success;
        driver().cuIpcCloseMemHandle(address);
    }
    scene.other().send(wrote);
    scene.other().hear("seen");
}

void visible_devices(Scene& scene, const char* value, int expected) {
    setenv("CUDA_VISIBLE_DEVICES", value, 1);
    int there = 0;
    const CUresult initialised = driver().cuInit(0);
    scene.observe("cuInit", initialised);
    if (initialised != success) return;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&there));
    scene.expect("devices it sees", expected, there);
}

}  // namespace

void add_peer_processes(Suite& suite) {
    suite.enter("peer processes");
    suite.add("a process on another device opens the memory", owner, reader_on_another_device);
    suite.add("a process that does not see the memory's device", owner, reader_that_sees_one_device);
    suite.add("one device visible, by number", [](Scene& scene) { visible_devices(scene, "0", 1); });
    suite.add("no device visible", [](Scene& scene) { visible_devices(scene, "", 0); });
    suite.add("the list of visible devices ends at a wrong number",
              [](Scene& scene) { visible_devices(scene, "0,99", 1); });
}

}  // namespace peercoll::conformance::cuda
