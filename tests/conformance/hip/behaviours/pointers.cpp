// SPDX-License-Identifier: BSD-3-Clause
// What a pointer is, by release; and how much the attributes write.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/hip/release.hpp"

namespace peercoll::conformance::hip {

namespace {

void device_memory(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(4 * MiB);
    for (const std::size_t offset : {std::size_t{0}, 3 * MiB + 5}) {
        const std::string where = offset == 0 ? "base: " : "inside: ";
        const HipPointerAttributes attributes = attributes_of(memory.at(offset));
        scene.expect(where + "type", release().device_type(), attributes.type);
        scene.expect(where + "device", 0, attributes.device);
        scene.expect(where + "managed", false, attributes.is_managed != 0);
    }
}

void of_its_device(Scene& scene) {
    need_devices(scene, 2);
    const Memory memory(MiB, 1);
    scene.expect("memory of device 1, asked on device 0", 1, attributes_of(memory.at()).device);
}

void host_memory(Scene& scene) {
    need_devices(scene, 1);
    void* pinned = nullptr;
    need("hipHostMalloc", lib().hipHostMalloc(&pinned, MiB, host_portable | host_mapped));
    scene.expect("hipHostMalloc: type", release().host_type(), attributes_of(pinned).type);
    need("hipHostFree", lib().hipHostFree(pinned));
    void* managed = nullptr;
    constexpr unsigned attach_global = 1;
    need("hipMallocManaged", lib().hipMallocManaged(&managed, MiB, attach_global));
    scene.expect("hipMallocManaged: managed", true, attributes_of(managed).is_managed != 0);
    need("hipFree", lib().hipFree(managed));
}

void expect_unknown(Scene& scene, const std::string& what, const void* address, HipError expected) {
    HipPointerAttributes attributes{};
    attributes.device = 77;
    scene.expect(what + ": code", expected, lib().hipPointerGetAttributes(&attributes, address));
    if (expected != code::success) return;
    scene.expect(what + ": type", 0, attributes.type);
    scene.expect(what + ": device", -2, attributes.device);
}

void unknown(Scene& scene) {
    need_devices(scene, 1);
    const std::vector<char> of_malloc(4096);
    expect_unknown(scene, "memory of malloc", of_malloc.data(), release().unknown_pointer());
    expect_unknown(scene, "a small number", reinterpret_cast<const void*>(64), release().unknown_pointer());
    // The checklist of the facts: NULL is a success since 7 only.
    scene.expect("null", release().major() >= 7 ? code::success : code::invalid_value, [] {
        HipPointerAttributes attributes{};
        return lib().hipPointerGetAttributes(&attributes, nullptr);
    }());
    Memory memory(MiB);
    void* const gone = memory.at();
    need("hipFree", memory.free());
    expect_unknown(scene, "freed memory", gone, release().unknown_pointer());
}

// 4 bytes where CUDA's attribute has 8, and 1 where it has 4: what lies behind stays.
void widths(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(MiB);
    constexpr std::uint64_t marks = 0x5a5a5a5a5a5a5a5a;
    std::uint64_t id = marks;
    scene.expect("number of the allocation: code", code::success,
                 lib().hipPointerGetAttribute(&id, pointer_attribute::buffer_id, memory.at()));
    scene.expect("behind its 4 bytes", marks >> 32, id >> 32);
    scene.expect("it is not 0", true, static_cast<std::uint32_t>(id) != 0);
    std::uint64_t sync = marks;
    scene.expect("SYNC_MEMOPS: code", code::success,
                 lib().hipPointerGetAttribute(&sync, pointer_attribute::sync_memops, memory.at()));
    scene.expect("behind its byte", marks >> 8, sync >> 8);
    scene.expect("it is", 0u, sync & 0xff);
}

void reused(Scene& scene) {
    need_devices(scene, 1);
    const auto number = [](const Memory& memory) {
        std::uint64_t id = 0;
        need("hipPointerGetAttribute", lib().hipPointerGetAttribute(&id, pointer_attribute::buffer_id, memory.at()));
        return id;
    };
    Memory first(8 * MiB);
    const std::byte* const address = first.at();
    const std::uint64_t id = number(first);
    const Memory other(8 * MiB);
    scene.expect("two allocations have the same number", false, number(other) == id);
    need("hipFree", first.free());
    const Memory second(8 * MiB);
    scene.note("the next allocation has the same address", second.at() == address);
    scene.expect("it has the same number", false, number(second) == id);
}

void sync_memops(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(MiB);
    const std::uint64_t on = 1;
    scene.expect("set", code::success, lib().hipPointerSetAttribute(&on, pointer_attribute::sync_memops, memory.at()));
    std::uint64_t value = 0;
    need("hipPointerGetAttribute", lib().hipPointerGetAttribute(&value, pointer_attribute::sync_memops, memory.at()));
    scene.expect("it is", 1u, value);
    const std::vector<char> of_malloc(4096);
    scene.expect(
        "of memory of malloc", code::invalid_value,
        lib().hipPointerSetAttribute(&on, pointer_attribute::sync_memops, const_cast<char*>(of_malloc.data())));
}

}  // namespace

void add_pointers(Suite& suite) {
    suite.enter("pointers");
    suite.add("memory of a device", device_memory);
    suite.add("memory belongs to the device it was allocated on", of_its_device);
    suite.add("pinned and managed memory", host_memory);
    suite.add("memory that HIP does not know", unknown);
    suite.add("attributes write fewer bytes than CUDA's", widths);
    suite.add("an address that was freed and is in use again", reused);
    suite.add("SYNC_MEMOPS", sync_memops);
}

}  // namespace peercoll::conformance::hip
