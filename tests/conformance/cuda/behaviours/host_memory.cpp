// SPDX-License-Identifier: BSD-3-Clause
// Host memory that devices reach: registered shared memory and memory of the driver's own.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/kernels.hpp"
#include "tests/conformance/cuda/registered_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 256 * KiB;

void registering(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(bytes);
    const unsigned flags = host_register_portable_mapped;
    CUdeviceptr address = 0;
    scene.expect("device address before", invalid_value,
                 driver().cuMemHostGetDevicePointer(&address, host.address(), 0));
    scene.expect("register", success, driver().cuMemHostRegister(host.address(), bytes, flags));
    scene.expect("register again", host_memory_already_registered,
                 driver().cuMemHostRegister(host.address(), bytes, flags));
    scene.expect("device address", success, driver().cuMemHostGetDevicePointer(&address, host.address(), 0));
    scene.observe("it is the processor's address", address == reinterpret_cast<CUdeviceptr>(host.address()));
    CUdeviceptr inside = 0;
    scene.expect("device address of a word inside", success,
                 driver().cuMemHostGetDevicePointer(&inside, static_cast<char*>(host.address()) + 8, 0));
    scene.expect("it lies as far inside", 8u, inside - address);
    scene.expect("unregister", success, driver().cuMemHostUnregister(host.address()));
    scene.expect("unregister again", host_memory_not_registered, driver().cuMemHostUnregister(host.address()));
}

void overlapping(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(bytes);
    const unsigned flags = host_register_portable_mapped;
    need("cuMemHostRegister", driver().cuMemHostRegister(host.address(), bytes / 2, flags));
    scene.observe("a range that begins registered and goes on",
                  driver().cuMemHostRegister(host.address(), bytes, flags));
    scene.expect("the rest", success,
                 driver().cuMemHostRegister(static_cast<char*>(host.address()) + bytes / 2, bytes / 2, flags));
    scene.expect("unregister the rest", success,
                 driver().cuMemHostUnregister(static_cast<char*>(host.address()) + bytes / 2));
    need("cuMemHostUnregister", driver().cuMemHostUnregister(host.address()));
}

void copies(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(bytes);
    const RegisteredMemory registered(host);
    const Memory memory(bytes);
    const Stream stream;
    const std::vector<std::uint64_t> words = words_from(5000, bytes / 8);
    store(memory.address(), words);
    need("cuMemcpyAsync", driver().cuMemcpyAsync(registered.device_address(), memory.address(), bytes, stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    const auto* const seen = static_cast<const std::uint64_t*>(host.address());
    scene.expect("a copy out of device memory arrives", true, std::equal(words.begin(), words.end(), seen));
    for (std::size_t i = 0; i < words.size(); ++i) host.word(i).store(9000 + i);
    need("cuMemcpyAsync", driver().cuMemcpyAsync(memory.address(), registered.device_address(), bytes, stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    scene.expect("a copy into device memory arrives", true,
                 load(memory.address(), words.size()) == words_from(9000, words.size()));
}

void own_memory(Scene& scene) {
    const Gpu gpu(scene);
    void* host = nullptr;
    scene.expect("allocate", success, driver().cuMemHostAlloc(&host, bytes, 0));
    CUdeviceptr address = 0;
    scene.expect("device address", success, driver().cuMemHostGetDevicePointer(&address, host, 0));
    scene.observe("it is the processor's address", address == reinterpret_cast<CUdeviceptr>(host));
    scene.expect("register it too", invalid_value,
                 driver().cuMemHostRegister(host, bytes, host_register_portable_mapped));
    scene.expect("free", success, driver().cuMemFreeHost(host));
    scene.expect("free what is not the driver's", invalid_value, driver().cuMemFreeHost(&address));
}

void owner_of_shared(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(bytes);
    const RegisteredMemory registered(host);
    scene.other().send_descriptor(host.descriptor());
    scene.other().hear("registered");
    const Kernels kernels;
    const Stream stream;
    need("launch", kernels.store(stream, {registered.device_address(8), 31, 512, registered.device_address(), 1}));
    scene.other().hear("read");
    need("cuStreamSynchronize", stream.synchronize());
}

void reader_of_shared(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(scene.other().receive_descriptor(), bytes);
    scene.expect("both processes register the same memory", success,
                 driver().cuMemHostRegister(host.address(), bytes, host_register_portable_mapped));
    scene.other().say("registered");
    scene.expect("the other's device sets a flag", true, host.wait_for(1));
    const std::vector<std::uint64_t> words = words_from(31, 512);
    scene.expect("what it stored before is there", true,
                 std::equal(words.begin(), words.end(), static_cast<const std::uint64_t*>(host.address()) + 8));
    scene.other().say("read");
    scene.expect("unregister", success, driver().cuMemHostUnregister(host.address()));
}

}  // namespace

void add_host_memory(Suite& suite) {
    suite.enter("host memory");
    suite.add("shared memory is registered once", registering);
    suite.add("ranges that overlap or touch", overlapping);
    suite.add("copies to and from registered memory", copies);
    suite.add("memory of the driver's own", own_memory);
    suite.add("two processes register the same memory", owner_of_shared, reader_of_shared);
}

}  // namespace peercoll::conformance::cuda
