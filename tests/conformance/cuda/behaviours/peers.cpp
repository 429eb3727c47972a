// SPDX-License-Identifier: BSD-3-Clause
// Two devices in one process.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/kernels.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void need_peers(Scene& scene) {
    need_devices(scene, 2);
    int there = 0;
    int back = 0;
    need("cuDeviceCanAccessPeer", driver().cuDeviceCanAccessPeer(&there, 0, 1));
    need("cuDeviceCanAccessPeer", driver().cuDeviceCanAccessPeer(&back, 1, 0));
    if (there == 0 || back == 0) scene.skip("needs two devices that are peers");
}

// Memory of one device. Its owner's context is current only while it is made and given back.
class MemoryOn {
public:
    MemoryOn(const Gpu& gpu, std::uint64_t seed) : gpu_(&gpu) {
        const Current current(gpu);
        need("cuMemAlloc", driver().cuMemAlloc(&address_, bytes));
        store(address_, words_from(seed, count));
    }
    ~MemoryOn() {
        const Current current(*gpu_);
        driver().cuMemFree(address_);
    }
    MemoryOn(const MemoryOn&) = delete;
    MemoryOn& operator=(const MemoryOn&) = delete;

    CUdeviceptr address() const { return address_; }
    std::vector<std::uint64_t> words() const {
        const Current current(*gpu_);
        return load(address_, count);
    }

private:
    const Gpu* gpu_;
    CUdeviceptr address_ = 0;
};

void queries(Scene& scene) {
    need_devices(scene, 2);
    int value = -1;
    scene.expect("can access: code", success, driver().cuDeviceCanAccessPeer(&value, 0, 1));
    scene.note("device 0 can access device 1", value);
    need("cuDeviceCanAccessPeer", driver().cuDeviceCanAccessPeer(&value, 1, 0));
    scene.note("device 1 can access device 0", value);
    scene.expect("link attribute: code", success, driver().cuDeviceGetP2PAttribute(&value, 2, 0, 1));
    scene.note("access supported", value);
    scene.expect("native atomics: code", success, driver().cuDeviceGetP2PAttribute(&value, 3, 0, 1));
    scene.note("native atomics", value);
}

void enabling(Scene& scene) {
    need_peers(scene);
    const Gpu second(scene, 1);
    const Gpu first(scene, 0);  // current
    scene.expect("disable before enable", peer_access_not_enabled, driver().cuCtxDisablePeerAccess(second.context()));
    scene.expect("enable with flags", invalid_value, driver().cuCtxEnablePeerAccess(second.context(), 1));
    scene.expect("enable", success, driver().cuCtxEnablePeerAccess(second.context(), 0));
    scene.expect("enable again", peer_access_already_enabled, driver().cuCtxEnablePeerAccess(second.context(), 0));
    {
        const Current current(second);
        scene.expect("the other direction is not enabled", peer_access_not_enabled,
                     driver().cuCtxDisablePeerAccess(first.context()));
        scene.expect("enable it", success, driver().cuCtxEnablePeerAccess(first.context(), 0));
        scene.expect("disable it", success, driver().cuCtxDisablePeerAccess(first.context()));
    }
    scene.expect("disable", success, driver().cuCtxDisablePeerAccess(second.context()));
    scene.expect("disable again", peer_access_not_enabled, driver().cuCtxDisablePeerAccess(second.context()));
    scene.expect("enable once more", success, driver().cuCtxEnablePeerAccess(second.context(), 0));
    need("cuCtxDisablePeerAccess", driver().cuCtxDisablePeerAccess(second.context()));
}

// A kernel of `from` stores into memory of `to`, and copies from it.
void store_and_copy(Scene& scene, int from, int to) {
    need_peers(scene);
    const Gpu far(scene, to);
    const Gpu near(scene, from);  // current
    const MemoryOn far_memory(far, 100);
    const MemoryOn near_memory(near, 0);
    scene.expect("enable", success, driver().cuCtxEnablePeerAccess(far.context(), 0));
    const Kernels kernels;
    const Stream stream;
    need("launch", kernels.copy(stream, {near_memory.address(), far_memory.address(), count}));
    scene.expect("loads", success, stream.synchronize());
    scene.expect("what was loaded", true, near_memory.words() == words_from(100, count));
    need("launch", kernels.store(stream, {far_memory.address(), 5000, count, 0, 0}));
    scene.expect("stores", success, stream.synchronize());
    scene.expect("what was stored, as its owner reads it", true, far_memory.words() == words_from(5000, count));
    const MemoryOn later(far, 1);
    need("launch", kernels.store(stream, {later.address(), 77, count, 0, 0}));
    scene.expect("stores into memory allocated later", success, stream.synchronize());
    scene.expect("what was stored there", true, later.words() == words_from(77, count));
    need("cuCtxDisablePeerAccess", driver().cuCtxDisablePeerAccess(far.context()));
}

void only_the_enabled_direction(Scene& scene) {
    need_peers(scene);
    const Gpu first(scene, 0);
    const Gpu second(scene, 1);
    const MemoryOn memory(first, 100);
    {
        const Current current(first);
        need("cuCtxEnablePeerAccess", driver().cuCtxEnablePeerAccess(second.context(), 0));
    }
    const Kernels kernels;  // of the second
    const Stream stream;
    need("launch", kernels.store(stream, {memory.address(), 1, 1, 0, 0}));
    scene.expect("a store against the enabled direction", illegal_address, stream.synchronize());
}

void copies_without_access(Scene& scene) {
    need_devices(scene, 2);
    const Gpu second(scene, 1);
    const Gpu first(scene, 0);
    const MemoryOn source(second, 100);
    const MemoryOn target(first, 0);
    const Stream stream;
    scene.expect("cuMemcpyPeerAsync", success,
                 driver().cuMemcpyPeerAsync(target.address(), first.context(), source.address(), second.context(),
                                            bytes, stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    scene.expect("what arrived", true, target.words() == words_from(100, count));
    const MemoryOn other(second, 300);
    scene.expect("cuMemcpyAsync", success,
                 driver().cuMemcpyAsync(target.address(), other.address(), bytes, stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    scene.expect("what arrived by that", true, target.words() == words_from(300, count));
}

void vmm_needs_its_own_access(Scene& scene) {
    need_peers(scene);
    const Gpu second(scene, 1);
    const MappedAllocation memory(second, bytes, handle_posix_fd);
    const Gpu first(scene, 0);
    need("cuCtxEnablePeerAccess", driver().cuCtxEnablePeerAccess(second.context(), 0));
    const Kernels kernels;
    const Stream stream;
    const CUmemAccessDesc access = read_write_from(first.device());
    scene.expect("give access", success, driver().cuMemSetAccess(memory.address(), memory.bytes(), &access, 1));
    need("launch", kernels.store(stream, {memory.address(), 40, 10, 0, 0}));
    scene.expect("a store with access", success, stream.synchronize());
    scene.expect("what was stored", true, load(memory.address(), 10) == words_from(40, 10));
    const MappedAllocation closed(second, bytes, handle_posix_fd);
    need("launch", kernels.store(stream, {closed.address(), 1, 1, 0, 0}));
    scene.expect("a store without access, with peers enabled", illegal_address, stream.synchronize());
}

void pools_need_their_own_access(Scene& scene) {
    need_peers(scene);
    const Gpu second(scene, 1);
    const Pool pool(second, handle_posix_fd);
    const StreamOrderedMemory memory(bytes, &pool);
    const Gpu first(scene, 0);
    need("cuCtxEnablePeerAccess", driver().cuCtxEnablePeerAccess(second.context(), 0));
    const Kernels kernels;
    const Stream stream;
    const CUmemAccessDesc access = read_write_from(first.device());
    scene.expect("give access", success, driver().cuMemPoolSetAccess(pool.get(), &access, 1));
    need("launch", kernels.store(stream, {memory.address(), 40, 10, 0, 0}));
    scene.expect("a store with access", success, stream.synchronize());
    scene.expect("what was stored", true, load(memory.address(), 10) == words_from(40, 10));
}

void pools_are_closed(Scene& scene) {
    need_peers(scene);
    const Gpu second(scene, 1);
    const Pool pool(second, handle_posix_fd);
    const StreamOrderedMemory memory(bytes, &pool);
    const Gpu first(scene, 0);
    need("cuCtxEnablePeerAccess", driver().cuCtxEnablePeerAccess(second.context(), 0));
    const Kernels kernels;
    const Stream stream;
    need("launch", kernels.store(stream, {memory.address(), 1, 1, 0, 0}));
    scene.expect("a store without access, with peers enabled", illegal_address, stream.synchronize());
}

void kernels_of_two_devices_meet(Scene& scene) {
    need_peers(scene);
    const Gpu second(scene, 1);
    const MemoryOn flag(second, 0);
    const Kernels waiting;
    const Stream waiting_stream;
    const Gpu first(scene, 0);
    need("cuCtxEnablePeerAccess", driver().cuCtxEnablePeerAccess(second.context(), 0));
    const Kernels storing;
    const Stream storing_stream;
    {
        const Current current(second);
        need("launch", waiting.wait(waiting_stream, {flag.address(), 33, 4'000'000, flag.address() + 4096}));
    }
    need("launch", storing.store(storing_stream, {flag.address() + 8192, 1, 100, flag.address(), 33}));
    need("cuStreamSynchronize", storing_stream.synchronize());
    {
        const Current current(second);
        need("cuStreamSynchronize", waiting_stream.synchronize());
    }
    scene.expect("the kernel that waits saw the other device's flag", 1u, flag.words()[512]);
}

}  // namespace

void add_peers(Suite& suite) {
    suite.enter("peers");
    suite.add("what is said about two devices", queries);
    suite.add("access is enabled and disabled by direction", enabling);
    suite.add("a kernel of device 0 in memory of device 1", [](Scene& scene) { store_and_copy(scene, 0, 1); });
    suite.add("a kernel of device 1 in memory of device 0", [](Scene& scene) { store_and_copy(scene, 1, 0); });
    suite.add("a store against the enabled direction", only_the_enabled_direction);
    suite.add("copies need no access", copies_without_access);
    suite.add("VMM memory needs access of its own", vmm_needs_its_own_access);
    suite.add("pool memory can be given access", pools_need_their_own_access);
    suite.add("pool memory needs access of its own", pools_are_closed);
    suite.add("kernels of two devices meet at a flag", kernels_of_two_devices_meet);
}

}  // namespace peercoll::conformance::cuda
