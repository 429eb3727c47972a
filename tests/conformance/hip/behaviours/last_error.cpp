// SPDX-License-Identifier: BSD-3-Clause
// The error that a thread keeps: an application that looks at it after a call of MPI must not find one of ours.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/hip/release.hpp"

#include <thread>

namespace peercoll::conformance::hip {

namespace {

void make_an_error() {
    (void)lib().hipSetDevice(-1);
}
void succeed() {
    int device = 0;
    need("hipGetDevice", lib().hipGetDevice(&device));
}

void taking(Scene& scene) {
    need_devices(scene, 1);
    (void)lib().hipGetLastError();
    make_an_error();
    scene.expect("look", code::invalid_device, lib().hipPeekAtLastError());
    scene.expect("look again", code::invalid_device, lib().hipPeekAtLastError());
    scene.expect("take", code::invalid_device, lib().hipGetLastError());
    scene.expect("take again", code::success, lib().hipGetLastError());
}

void later_success(Scene& scene) {
    need_devices(scene, 1);
    (void)lib().hipGetLastError();
    make_an_error();
    succeed();
    scene.expect("an error, then a success", release().errors_stay() ? code::invalid_device : code::success,
                 lib().hipGetLastError());
}

void of_other_threads(Scene& scene) {
    need_devices(scene, 1);
    (void)lib().hipGetLastError();
    std::thread(make_an_error).join();
    scene.expect("another thread's error", code::success, lib().hipPeekAtLastError());
}

// "Already enabled" is success for us, and an error to whoever looks.
void of_enabling_again(Scene& scene) {
    need_peers(scene);
    need("hipDeviceEnablePeerAccess", lib().hipDeviceEnablePeerAccess(1, 0));
    (void)lib().hipGetLastError();
    (void)lib().hipDeviceEnablePeerAccess(1, 0);
    scene.expect("what enabling twice leaves", code::peer_access_already_enabled, lib().hipGetLastError());
    need("hipDeviceDisablePeerAccess", lib().hipDeviceDisablePeerAccess(1));
}

}  // namespace

void add_last_error(Suite& suite) {
    suite.enter("last error");
    suite.add("looking leaves it, taking does not", taking);
    suite.add("a later success", later_success);
    suite.add("it belongs to the thread", of_other_threads);
    suite.add("peer access that is enabled already", of_enabling_again);
}

}  // namespace peercoll::conformance::hip
