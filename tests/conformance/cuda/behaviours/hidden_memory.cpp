// SPDX-License-Identifier: BSD-3-Clause
// Memory of a device that CUDA_VISIBLE_DEVICES hides from the process that opens it, as where each rank is given a
// device of its own. That process has no ordinal for the memory's device.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/kernels.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

// As CUDA_VISIBLE_DEVICES takes it: GPU-8 hex digits-4-4-4-12.
struct UuidText {
    char text[64];
};

UuidText uuid_text(CUdevice device) {
    CUuuid uuid{};
    need("cuDeviceGetUuid", driver().cuDeviceGetUuid(&uuid, device));
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits;
    }
    UuidText result{};
    text.copy(result.text, sizeof result.text - 1);
    return result;
}

// The owner, on device 0, tells the reader how device 1 is called.
void name_the_other_device(Scene& scene) {
    need_devices(scene, 2);
    scene.other().send(uuid_text(1));
}

void see_only_the_named_device(Scene& scene) {
    const auto named = scene.other().receive<UuidText>();
    setenv("CUDA_VISIBLE_DEVICES", named.text, 1);
    need_devices(scene, 1);
    int there = 0;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&there));
    scene.expect("devices it sees", 1, there);
    scene.expect("that device is the one named", true, std::string(named.text) == uuid_text(0).text);
}

// What the owner finds when the reader is done; the reader says whether it has stored at all.
void look_at_what_came(Scene& scene, CUdeviceptr address) {
    if (scene.other().receive<bool>())
        scene.expect("what the reader's kernel stored", true, load(address, count) == words_from(900, count));
    scene.other().say("seen");
}

void use(Scene& scene, CUdeviceptr address) {
    int ordinal = -1;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&ordinal, attribute_device_ordinal, address));
    scene.observe("device of the mapping", ordinal);
    const Kernels kernels;
    const Memory copy(bytes);
    const Stream stream;
    need("launch", kernels.copy(stream, {copy.address(), address, count}));
    scene.observe("a kernel's loads from it", stream.synchronize());
    scene.observe("what was loaded", load(copy.address(), count) == words_from(100, count));
    store(copy.address(), words_from(0, count));
    scene.observe("a copy out of it", driver().cuMemcpyAsync(copy.address(), address, bytes, stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    scene.observe("what was copied", load(copy.address(), count) == words_from(100, count));
    need("launch", kernels.store(stream, {address, 900, count, 0, 0}));
    const CUresult ran = stream.synchronize();
    scene.observe("a kernel's store into it", ran);
    scene.other().send(ran == success);
    scene.other().hear("seen");
}

void not_opened(Scene& scene) {
    scene.other().send(false);
    scene.other().hear("seen");
}

void ipc_owner(Scene& scene) {
    const Gpu gpu(scene, 0);
    name_the_other_device(scene);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(ipc_handle(memory.address()));
    look_at_what_came(scene, memory.address());
}

void ipc_reader(Scene& scene) {
    see_only_the_named_device(scene);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    const Gpu gpu(scene, 0);
    CUdeviceptr address = 0;
    const CUresult code = driver().cuIpcOpenMemHandle(&address, handle, ipc_lazy_enable_peer_access);
    scene.observe("open memory of a device it does not see", code);
    if (code != success) return not_opened(scene);
    use(scene, address);
    scene.observe("close", driver().cuIpcCloseMemHandle(address));
}

void vmm_owner(Scene& scene) {
    const Gpu gpu(scene, 0);
    name_the_other_device(scene);
    const MappedAllocation memory(gpu, bytes, handle_posix_fd);
    store(memory.address(), words_from(100, count));
    int descriptor = -1;
    need("cuMemExportToShareableHandle",
         driver().cuMemExportToShareableHandle(&descriptor, memory.handle(), handle_posix_fd, 0));
    const Descriptor owned(descriptor);
    scene.other().send(memory.bytes());
    scene.other().send_descriptor(owned.get());
    look_at_what_came(scene, memory.address());
}

void vmm_reader(Scene& scene) {
    see_only_the_named_device(scene);
    const auto size = scene.other().receive<std::size_t>();
    const Descriptor descriptor = scene.other().receive_descriptor();
    const Gpu gpu(scene, 0);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult code =
        driver().cuMemImportFromShareableHandle(&handle, as_os_handle(descriptor.get()), handle_posix_fd);
    scene.observe("import memory of a device it does not see", code);
    if (code != success) return not_opened(scene);
    CUdeviceptr address = 0;
    need("cuMemAddressReserve", driver().cuMemAddressReserve(&address, size, 0, 0, 0));
    const CUresult mapped = driver().cuMemMap(address, size, 0, handle, 0);
    scene.observe("map it", mapped);
    const CUmemAccessDesc access = read_write_from(gpu.device());
    const CUresult given = mapped == success ? driver().cuMemSetAccess(address, size, &access, 1) : mapped;
    scene.observe("give the own device access", given);
    if (given == success)
        use(scene, address);
    else
        not_opened(scene);
    if (mapped == success) scene.observe("unmap", driver().cuMemUnmap(address, size));
    scene.observe("release", driver().cuMemRelease(handle));
    driver().cuMemAddressFree(address, size);
}

void pool_owner(Scene& scene) {
    const Gpu gpu(scene, 0);
    name_the_other_device(scene);
    const Pool pool(gpu, handle_posix_fd);
    const StreamOrderedMemory memory(bytes, &pool);
    store(memory.address(), words_from(100, count));
    int descriptor = -1;
    need("cuMemPoolExportToShareableHandle",
         driver().cuMemPoolExportToShareableHandle(&descriptor, pool.get(), handle_posix_fd, 0));
    const Descriptor owned(descriptor);
    CUmemPoolPtrExportData data{};
    need("cuMemPoolExportPointer", driver().cuMemPoolExportPointer(&data, memory.address()));
    scene.other().send_descriptor(owned.get());
    scene.other().send(data);
    look_at_what_came(scene, memory.address());
    scene.other().hear("closed");
}

void pool_reader(Scene& scene) {
    see_only_the_named_device(scene);
    const Descriptor descriptor = scene.other().receive_descriptor();
    auto data = scene.other().receive<CUmemPoolPtrExportData>();
    const Gpu gpu(scene, 0);
    CUmemoryPool imported = nullptr;
    const CUresult code =
        driver().cuMemPoolImportFromShareableHandle(&imported, as_os_handle(descriptor.get()), handle_posix_fd, 0);
    scene.observe("import a pool of a device it does not see", code);
    if (code == success) {
        const Pool pool(imported);
        const CUmemAccessDesc access = read_write_from(gpu.device());
        const CUresult given = driver().cuMemPoolSetAccess(imported, &access, 1);
        scene.observe("give the own device access", given);
        CUdeviceptr address = 0;
        const CUresult found = driver().cuMemPoolImportPointer(&address, imported, &data);
        scene.observe("import a pointer", found);
        if (given == success && found == success)
            use(scene, address);
        else
            not_opened(scene);
        if (found == success) scene.observe("free the import", driver().cuMemFree(address));
    } else {
        not_opened(scene);
    }
    scene.other().say("closed");
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

void add_hidden_memory(Suite& suite) {
    suite.enter("peer processes");
    suite.add("a process that does not see the memory's device", ipc_owner, ipc_reader);
    suite.add("VMM memory of a device that is not seen", vmm_owner, vmm_reader);
    suite.add("pool memory of a device that is not seen", pool_owner, pool_reader);
    suite.add("one device visible, by number", [](Scene& scene) { visible_devices(scene, "0", 1); });
    suite.add("no device visible", [](Scene& scene) { visible_devices(scene, "", 0); });
    suite.add("the list of visible devices ends at a wrong number",
              [](Scene& scene) { visible_devices(scene, "0,99", 1); });
}

}  // namespace peercoll::conformance::cuda
