// SPDX-License-Identifier: BSD-3-Clause
// Allocations, and what a pointer is.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

namespace peercoll::conformance::ascend {

namespace {

void allocating(Scene& scene) {
    const Npu npu(scene);
    void* address = nullptr;
    scene.expect("no bytes", code::invalid_param, lib().aclrtMalloc(&address, 0, malloc_huge_first_p2p));
    scene.expect("no place for the address", code::invalid_param,
                 lib().aclrtMalloc(nullptr, 4096, malloc_huge_first_p2p));
    scene.expect("free nothing succeeds", false, lib().aclrtFree(nullptr) == code::success);
    for (const int policy : {0, 2, 3, 5}) {
        scene.expect("policy " + std::to_string(policy), code::success, lib().aclrtMalloc(&address, 10, policy));
        scene.expect("it begins at a multiple of 64", 0u, reinterpret_cast<std::uint64_t>(address) % 64);
        scene.expect("free it", code::success, lib().aclrtFree(address));
    }
    void* host = nullptr;
    scene.expect("host memory", code::success, lib().aclrtMallocHost(&host, 4096));
    scene.expect("free that", code::success, lib().aclrtFreeHost(host));
}

int location_of(const void* address, std::int32_t* device = nullptr) {
    AclPointerAttributes attributes{};
    need("aclrtPointerGetAttributes", lib().aclrtPointerGetAttributes(address, &attributes));
    if (device != nullptr) *device = static_cast<std::int32_t>(attributes.location.id);
    return attributes.location.type;
}

void what_a_pointer_is(Scene& scene) {
    const Npu npu(scene);
    const Memory memory(npu, 4 * MiB);
    std::int32_t device = -1;
    scene.expect("memory of the device", location::device, location_of(memory.at(), &device));
    scene.expect("its number", 0, device);
    scene.expect("inside", location::device, location_of(memory.at(3 * MiB + 5)));
    const HostMemory host(4096);
    scene.expect("memory of aclrtMallocHost", location::host, location_of(host.words()));
    const std::vector<char> of_malloc(4096);
    scene.expect("memory of malloc", location::unregistered, location_of(of_malloc.data()));
}

void of_its_device(Scene& scene) {
    const Npu first(scene, 0);
    const Npu second(scene, 1);
    const Memory memory(second, MiB);
    first.use();
    std::int32_t device = -1;
    scene.expect("memory of device 1, asked on device 0", location::device, location_of(memory.at(), &device));
    scene.expect("its number", 1, device);
}

void ranges(Scene& scene) {
    const Npu npu(scene);
    const Memory memory(npu, 4 * MiB);
    void* base = nullptr;
    std::size_t bytes = 0;
    scene.expect("inside", code::success, lib().aclrtMemGetAddressRange(memory.at(MiB + 17), &base, &bytes));
    scene.expect("base", true, base == memory.at());
    scene.expect("at least as many bytes as were asked for", true, bytes >= memory.bytes());
    std::vector<char> of_malloc(4096);
    scene.expect("memory of malloc has one", false,
                 lib().aclrtMemGetAddressRange(of_malloc.data(), &base, &bytes) == code::success);
}

}  // namespace

void add_memory(Suite& suite) {
    suite.enter("memory");
    suite.add("allocations, and what is none", allocating);
    suite.add("what a pointer is", what_a_pointer_is);
    suite.add("memory belongs to the device it was allocated on", of_its_device);
    suite.add("the allocation of an address inside", ranges);
}

}  // namespace peercoll::conformance::ascend
