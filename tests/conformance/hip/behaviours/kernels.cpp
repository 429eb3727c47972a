// SPDX-License-Identifier: BSD-3-Clause
// Kernels that hiprtc compiles: loading, launching, and flags in host memory.
#include "tests/conformance/hip/kernels.hpp"

#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/registered_memory.hpp"

#include <algorithm>

namespace peercoll::conformance::hip {

namespace {

constexpr std::uint64_t many_looks = 4'000'000;

void loading(Scene& scene) {
    need_devices(scene, 1);
    HipModule module = nullptr;
    HipFunction function = nullptr;
    scene.expect("load", code::success, lib().hipModuleLoadData(&module, compiled_kernels().data()));
    scene.expect("a kernel by name", code::success,
                 lib().hipModuleGetFunction(&function, module, "peercoll_conformance_store"));
    scene.expect("a name that is not there", code::not_found,
                 lib().hipModuleGetFunction(&function, module, "peercoll_conformance_nothing"));
    scene.expect("unload", code::success, lib().hipModuleUnload(module));
    // A bundle without code for any device there is: what is tried next is another image.
    constexpr char entry[] = "hipv4-amdgcn-amd-amdhsa--gfx000";
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
    for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{64}, sizeof entry - 1})
        bundle.append(reinterpret_cast<const char*>(&number), sizeof number);
    bundle += entry;
    bundle.resize(8192, '\0');
    scene.expect("load a bundle for other devices", false,
                 lib().hipModuleLoadData(&module, bundle.data()) == code::success);
}

void stores_then_flag(Scene& scene) {
    need_devices(scene, 1);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Memory memory(MiB);
    const Stream stream;
    scene.expect("launch", code::success,
                 kernels.store(stream, {address_of(memory.at(8)), 500, 1000, registered.device_address(4), 42}));
    scene.expect("a processor sees the flag without any further call", true, host.wait_for(42, 4));
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("what was stored", true, load(memory.at(8), 1000) == words_from(500, 1000));
}

void stores_into_host_memory(Scene& scene) {
    need_devices(scene, 1);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.store(stream, {registered.device_address(16), 7000, 4096, registered.device_address(), 1}));
    scene.expect("the flag comes", true, host.wait_for(1));
    const std::vector<std::uint64_t> words = words_from(7000, 4096);
    scene.expect("behind what was stored", true,
                 std::equal(words.begin(), words.end(), static_cast<const std::uint64_t*>(host.address()) + 16));
    need("hipStreamSynchronize", stream.synchronize());
}

void running_kernel_sees_the_host(Scene& scene) {
    need_devices(scene, 1);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.wait(stream, {registered.device_address(), 9, many_looks, registered.device_address(8)}));
    host.word().store(9);
    scene.expect("the kernel saw it", true, host.wait_for(1, 8));
    scene.expect("synchronise", code::success, stream.synchronize());
}

void bounded_wait(Scene& scene) {
    need_devices(scene, 1);
    const Kernels kernels;
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    need("launch", kernels.wait(stream, {registered.device_address(), 9, 50, registered.device_address(8)}));
    scene.expect("a wait for what nobody writes gives up", true, host.wait_for(2, 8));
    scene.expect("synchronise", code::success, stream.synchronize());
}

void arguments_are_copied(Scene& scene) {
    need_devices(scene, 1);
    const Kernels kernels;
    const Memory memory(MiB);
    const Stream stream;
    for (std::uint64_t i = 0; i < 50; ++i)
        need("launch", kernels.store(stream, {address_of(memory.at(8 * i)), 3 * i, 1, 0, 0}));
    need("hipStreamSynchronize", stream.synchronize());
    std::vector<std::uint64_t> expected(50);
    for (std::uint64_t i = 0; i < 50; ++i) expected[i] = 3 * i;
    scene.expect("each launch had its own", true, load(memory.at(), 50) == expected);
}

}  // namespace

void add_kernels(Suite& suite) {
    suite.enter("kernels");
    suite.add("images are loaded, and refused", loading);
    suite.add("a kernel stores, then sets a flag in host memory", stores_then_flag);
    suite.add("a kernel stores into host memory, then sets a flag", stores_into_host_memory);
    suite.add("a running kernel sees what a processor stores", running_kernel_sees_the_host);
    suite.add("a kernel that waits in vain gives up", bounded_wait);
    suite.add("arguments are copied at the launch", arguments_are_copied);
}

}  // namespace peercoll::conformance::hip
