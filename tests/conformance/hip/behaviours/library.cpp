// SPDX-License-Identifier: BSD-3-Clause
// The library itself: which functions a release has, and what it answers before anything was done with it.
#include "plugin/device/hip/hip_api.hpp"
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/kernels.hpp"
#include "tests/conformance/hip/release.hpp"

#include <cstring>
#include <thread>

namespace peercoll::conformance::hip {

namespace {

void machine(Scene& scene) {
    need_devices(scene, 1);
    int count = 0;
    need("hipGetDeviceCount", lib().hipGetDeviceCount(&count));
    scene.note("devices", count);
    char name[256] = "";
    need("hipDeviceGetName", lib().hipDeviceGetName(name, sizeof name, 0));
    scene.note("device 0", name);
    scene.note("its architecture", architecture_of(0));
    scene.note("runtime", release().number);
}

void symbols(Scene& scene) {
    HipFunctions all{};
    for_each_hip_function(all, [&](auto&, const char* symbol, bool required) {
        const bool there = find_in_hip(symbol) != nullptr;
        if (required)
            scene.expect(symbol, true, there);
        else
            scene.note(symbol, there);
    });
}

void symbols_by_release(Scene& scene) {
    const Release known = release();
    scene.expect("a struct of device properties with a new layout", known.has_new_properties(),
                 static_cast<bool>(lib().hipGetDevicePropertiesR0600));
    scene.expect("hiprtc inside", known.has_hiprtc(), find_in_hip("hiprtcCompileProgram") != nullptr);
    scene.expect("functions of the host in streams", known.has_host_functions(),
                 find_in_hip("hipLaunchHostFunc") != nullptr);
}

void version(Scene& scene) {
    int number = 0;
    scene.expect("code", code::success, lib().hipRuntimeGetVersion(&number));
    scene.expect("major times 10000000, 5 or more", true, number >= 50'000'000 && number < 1'000'000'000);
    scene.expect("null", code::invalid_value, lib().hipRuntimeGetVersion(nullptr));
    scene.expect("name of 705", "hipErrorPeerAccessNotEnabled", lib().hipGetErrorName(705));
    scene.expect("there is a text for 705", true, std::strlen(lib().hipGetErrorString(705)) > 0);
}

void initialisation(Scene& scene) {
    need_devices(scene, 1);
    scene.expect("code", code::success, lib().hipInit(0));
    scene.expect("again", code::success, lib().hipInit(0));
}

// Without a context or any other call before.
void current_device(Scene& scene) {
    need_devices(scene, 1);
    int device = -1;
    scene.expect("the first thread", code::success, lib().hipGetDevice(&device));
    scene.expect("it has device", 0, device);
    HipError error = code::not_initialized;
    std::thread([&] {
        device = -1;
        error = lib().hipGetDevice(&device);
    }).join();
    scene.expect("another thread", code::success, error);
    scene.expect("that has device", 0, device);
}

void current_device_of_each_thread(Scene& scene) {
    need_devices(scene, 2);
    need("hipSetDevice", lib().hipSetDevice(1));
    int other = -1;
    std::thread([&] { (void)lib().hipGetDevice(&other); }).join();
    int mine = -1;
    need("hipGetDevice", lib().hipGetDevice(&mine));
    scene.expect("the thread that chose", 1, mine);
    scene.expect("one that did not", 0, other);
}

}  // namespace

void add_machine(Suite& suite) {
    suite.enter("machine");
    suite.add("what was looked at", machine);
}

void add_library(Suite& suite) {
    suite.enter("library");
    suite.add("functions that the plugin calls", symbols);
    suite.add("functions that depend on the release", symbols_by_release);
    suite.add("version and names of errors", version);
    suite.add("initialisation may be repeated", initialisation);
    suite.add("every thread has a current device from the beginning", current_device);
    suite.add("the current device belongs to the thread", current_device_of_each_thread);
}

}  // namespace peercoll::conformance::hip
