// SPDX-License-Identifier: BSD-3-Clause
// Allocations, host memory that devices reach, and copies of memory of one device.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/hip/release.hpp"
#include "tests/conformance/runner/shared_host_memory.hpp"

namespace peercoll::conformance::hip {

namespace {

constexpr HipError host_memory_not_registered = 713;
constexpr HipError invalid_memcpy_direction = 21;

void allocating(Scene& scene) {
    need_devices(scene, 1);
    void* address = &scene;
    scene.expect("0 bytes: code", code::success, lib().hipMalloc(&address, 0));
    scene.expect("0 bytes: no address", true, address == nullptr);
    scene.expect("free nothing", code::success, lib().hipFree(nullptr));
    std::size_t total = 0;
    need("hipDeviceTotalMem", lib().hipDeviceTotalMem(&total, 0));
    scene.expect("more than there is", code::out_of_memory, lib().hipMalloc(&address, total + MiB));
    scene.expect("no place for the address", code::invalid_value, lib().hipMalloc(nullptr, MiB));
    Memory memory(MiB);
    scene.expect("free inside an allocation", false, lib().hipFree(memory.at(4096)) == code::success);
    scene.expect("free it", code::success, memory.free());
    constexpr unsigned fine_grained = 1;
    scene.expect("fine-grained memory", code::success, lib().hipExtMallocWithFlags(&address, MiB, fine_grained));
    scene.expect("free that", code::success, lib().hipFree(address));
}

void freeing_waits(Scene& scene) {
    need_devices(scene, 1);
    const Memory target(16 * MiB);
    Memory source(16 * MiB);
    store(source.at(), words_from(5, source.bytes() / 8));
    const Stream stream;
    need("hipMemcpyAsync", lib().hipMemcpyAsync(target.at(), source.at(), source.bytes(), copy_default, stream.get()));
    scene.expect("free what a stream reads", code::success, source.free());
    scene.expect("then that stream is done", code::success, lib().hipStreamQuery(stream.get()));
    scene.expect("what it copied", true, load(target.at(), target.bytes() / 8) == words_from(5, target.bytes() / 8));
}

void registering(Scene& scene) {
    need_devices(scene, 1);
    const SharedHostMemory host(64 * KiB);
    scene.expect("register", code::success,
                 lib().hipHostRegister(host.address(), host.bytes(), host_portable | host_mapped));
    void* reached = nullptr;
    scene.expect("its address for devices", code::success, lib().hipHostGetDevicePointer(&reached, host.address(), 0));
    scene.expect("there is one", true, reached != nullptr);
    scene.expect("type of a pointer", release().host_type(), attributes_of(host.address()).type);
    scene.expect("take it back", code::success, lib().hipHostUnregister(host.address()));
    scene.expect("again", host_memory_not_registered, lib().hipHostUnregister(host.address()));
    scene.expect("nothing", code::invalid_value, lib().hipHostRegister(nullptr, 4096, host_mapped));
    scene.expect("no bytes", code::invalid_value, lib().hipHostRegister(host.address(), 0, host_mapped));
}

void copying(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(MiB);
    const Memory other(MiB);
    const Stream stream;
    const std::vector<std::uint64_t> words = words_from(300, MiB / 8);
    std::vector<std::uint64_t> back(words.size());
    scene.expect("from memory of malloc, whatever it is", code::success,
                 lib().hipMemcpyAsync(memory.at(), words.data(), MiB, copy_default, stream.get()));
    scene.expect("within the device", code::success,
                 lib().hipMemcpyAsync(other.at(), memory.at(), MiB, copy_default, stream.get()));
    scene.expect("to memory of malloc", code::success,
                 lib().hipMemcpyAsync(back.data(), other.at(), MiB, copy_default, stream.get()));
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("what came back", true, back == words);
    scene.expect("no bytes", code::success, lib().hipMemcpy(memory.at(), other.at(), 0, copy_device_to_device));
    constexpr int no_kind = 77;
    scene.expect("a kind that is none", invalid_memcpy_direction, lib().hipMemcpy(memory.at(), other.at(), 8, no_kind));
    scene.expect("fill", code::success, lib().hipMemsetAsync(memory.at(), 0x11, MiB, stream.get()));
    need("hipStreamSynchronize", stream.synchronize());
    scene.expect("what was filled", 0x1111111111111111u, load(memory.at(), 1)[0]);
}

}  // namespace

void add_memory(Suite& suite) {
    suite.enter("memory");
    suite.add("allocations, and what is none", allocating);
    suite.add("freeing waits for the device", freeing_waits);
    suite.add("host memory is registered", registering);
    suite.add("copies of which HIP finds out the kind", copying);
}

}  // namespace peercoll::conformance::hip
