// SPDX-License-Identifier: BSD-3-Clause
// Peer access: every function of ROCm's page "Device Memory Access", with its results and errors. Where the runtime's
// source answers otherwise than the page says, the source is expected.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/kernels.hpp"
#include "tests/conformance/hip/release.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace peercoll::conformance::hip {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void questions_of_one(Scene& scene) {
    need_devices(scene, 1);
    int there = 0;
    need("hipGetDeviceCount", lib().hipGetDeviceCount(&there));
    int can = -1;
    scene.expect("a device of itself: code", code::success, lib().hipDeviceCanAccessPeer(&can, 0, 0));
    scene.expect("a device of itself", 0, can);
    scene.expect("no place for the answer", code::invalid_value, lib().hipDeviceCanAccessPeer(nullptr, 0, 0));
    scene.expect("the device behind the last", code::invalid_device, lib().hipDeviceCanAccessPeer(&can, 0, there));
    scene.expect("of device -1", code::invalid_device, lib().hipDeviceCanAccessPeer(&can, -1, 0));
    can = -1;
    // The page says "both valid"; the source compares first.
    scene.expect("one that is not there, of itself: code", code::success,
                 lib().hipDeviceCanAccessPeer(&can, there + 5, there + 5));
    scene.expect("one that is not there, of itself", 0, can);
    scene.expect("enable itself", code::invalid_device, lib().hipDeviceEnablePeerAccess(0, 0));
    scene.expect("enable what is not there", code::invalid_device, lib().hipDeviceEnablePeerAccess(there, 0));
    scene.expect("disable itself", code::invalid_device, lib().hipDeviceDisablePeerAccess(0));
}

void enabling(Scene& scene) {
    need_peers(scene);
    scene.expect("disable before enable", code::peer_access_not_enabled, lib().hipDeviceDisablePeerAccess(1));
    scene.expect("enable with flags", code::invalid_value, lib().hipDeviceEnablePeerAccess(1, 1));
    scene.expect("enable", code::success, lib().hipDeviceEnablePeerAccess(1, 0));
    scene.expect("enable again", code::peer_access_already_enabled, lib().hipDeviceEnablePeerAccess(1, 0));
    {
        const OnDevice other(1);
        scene.expect("the other direction is not enabled", code::peer_access_not_enabled,
                     lib().hipDeviceDisablePeerAccess(0));
    }
    scene.expect("disable", code::success, lib().hipDeviceDisablePeerAccess(1));
    scene.expect("disable again", code::peer_access_not_enabled, lib().hipDeviceDisablePeerAccess(1));
}

// A kernel of `from` stores into memory of `to`, and loads from it.
void kernels_reach(Scene& scene, int from, int to) {
    need_peers(scene);
    const Memory far(bytes, to);
    store(far.at(), words_from(100, count));
    const OnDevice current(from);
    const Memory near(bytes, from);
    need("hipDeviceEnablePeerAccess", lib().hipDeviceEnablePeerAccess(to, 0));
    {
        const Kernels kernels;
        const Stream stream;
        need("launch", kernels.copy(stream, {address_of(near.at()), address_of(far.at()), count}));
        scene.expect("loads", code::success, stream.synchronize());
        scene.expect("what was loaded", true, load(near.at(), count) == words_from(100, count));
        need("launch", kernels.store(stream, {address_of(far.at()), 5000, count, 0, 0}));
        scene.expect("stores", code::success, stream.synchronize());
        scene.expect("what was stored, as its owner reads it", true, load(far.at(), count) == words_from(5000, count));
        const Memory later(bytes, to);
        need("launch", kernels.store(stream, {address_of(later.at()), 77, count, 0, 0}));
        scene.expect("stores into memory allocated later", code::success, stream.synchronize());
        scene.expect("what was stored there", true, load(later.at(), count) == words_from(77, count));
    }
    need("hipDeviceDisablePeerAccess", lib().hipDeviceDisablePeerAccess(to));
}

// Real runtimes may end a process whose kernel faults, so that another one tries it.
enum class Ending : int { Arrived = 0, Refused = 1, NoPeers = 2 };

[[noreturn]] void store_without_access() {
    int devices = 0;
    int can = 0;
    if (lib().hipGetDeviceCount(&devices) != code::success || devices < 2 ||
        lib().hipDeviceCanAccessPeer(&can, 0, 1) != code::success || can == 0)
        _exit(static_cast<int>(Ending::NoPeers));
    try {
        const Memory far(bytes, 1);
        const Kernels kernels;
        const Stream stream;
        need("launch", kernels.store(stream, {address_of(far.at()), 1, 1, 0, 0}));
        need("synchronise", stream.synchronize());
    } catch (const std::exception&) {
        _exit(static_cast<int>(Ending::Refused));
    }
    _exit(static_cast<int>(Ending::Arrived));
}

void not_enabled(Scene& scene) {
    (void)hip_library();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        store_without_access();
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("no process to try it");
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Ending::NoPeers))
        scene.skip("needs two devices that are peers");
    scene.expect("a store without access succeeds", false,
                 WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Ending::Arrived));
}

void copies_without_access(Scene& scene) {
    need_devices(scene, 2);
    const Memory source(bytes, 1);
    const Memory target(bytes, 0);
    store(source.at(), words_from(100, count));
    scene.expect("hipMemcpyPeer", code::success, lib().hipMemcpyPeer(target.at(), 0, source.at(), 1, bytes));
    need("hipDeviceSynchronize", lib().hipDeviceSynchronize());
    scene.expect("what it copied", true, load(target.at(), count) == words_from(100, count));
    store(source.at(), words_from(900, count));
    const Stream stream;
    scene.expect("hipMemcpyPeerAsync", code::success,
                 lib().hipMemcpyPeerAsync(target.at(), 0, source.at(), 1, bytes, stream.get()));
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("what that copied", true, load(target.at(), count) == words_from(900, count));
    scene.expect("from a device that is not there", code::invalid_device,
                 lib().hipMemcpyPeer(target.at(), 0, source.at(), 1000, bytes));
    scene.expect("to device -1", code::invalid_device, lib().hipMemcpyPeer(target.at(), -1, source.at(), 1, bytes));
    scene.expect("no bytes", code::success, lib().hipMemcpyPeer(target.at(), 0, source.at(), 1, 0));
}

void within_one_device(Scene& scene) {
    need_devices(scene, 1);
    const Memory source(bytes);
    const Memory target(bytes);
    store(source.at(), words_from(100, count));
    scene.expect("hipMemcpyPeer of a device with itself", code::success,
                 lib().hipMemcpyPeer(target.at(), 0, source.at(), 0, bytes));
    need("hipDeviceSynchronize", lib().hipDeviceSynchronize());
    scene.expect("what it copied", true, load(target.at(), count) == words_from(100, count));
}

void ranges(Scene& scene) {
    need_devices(scene, 1);
    Memory memory(bytes);
    void* base = nullptr;
    std::size_t size = 0;
    scene.expect("inside", code::success, lib().hipMemGetAddressRange(&base, &size, memory.at(MiB + 17)));
    scene.expect("base", true, base == memory.at());
    scene.expect("size", bytes, size);
    const std::vector<char> of_malloc(4096);
    scene.expect("memory of malloc", release().unknown_range(),
                 lib().hipMemGetAddressRange(&base, &size, const_cast<char*>(of_malloc.data())));
    void* const gone = memory.at();
    need("hipFree", memory.free());
    scene.expect("freed memory", release().unknown_range(), lib().hipMemGetAddressRange(&base, &size, gone));
}

void link(Scene& scene) {
    need_devices(scene, 2);
    int value = 0;
    constexpr int access_supported = 1;
    scene.expect("code", code::success, lib().hipDeviceGetP2PAttribute(&value, access_supported, 0, 1));
    int can = 0;
    need("hipDeviceCanAccessPeer", lib().hipDeviceCanAccessPeer(&can, 0, 1));
    scene.expect("it says what hipDeviceCanAccessPeer says", can, value);
    scene.expect("of a device with itself", code::invalid_device,
                 lib().hipDeviceGetP2PAttribute(&value, access_supported, 0, 0));
}

}  // namespace

void add_peers(Suite& suite) {
    suite.enter("peers");
    suite.add("a device is no peer of itself, and not of what is not there", questions_of_one);
    suite.add("access is enabled once, for one direction", enabling);
    suite.add("the link's attributes", link);
    suite.add("kernels of device 0 reach device 1", [](Scene& scene) { kernels_reach(scene, 0, 1); });
    suite.add("kernels of device 1 reach device 0", [](Scene& scene) { kernels_reach(scene, 1, 0); });
    suite.add("kernels do not reach what was not enabled", not_enabled);
    suite.add("hipMemcpyPeer needs no access", copies_without_access);
    suite.add("hipMemcpyPeer within one device", within_one_device);
    suite.add("hipMemGetAddressRange finds the allocation", ranges);
}

}  // namespace peercoll::conformance::hip
