// SPDX-License-Identifier: BSD-3-Clause
// cuInit, the gate in front of all other calls, and the end of the process.
#include "tests/simulated_devices/core/leaks.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/state.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace peercoll::simulator::cuda {

namespace {

enum class Phase { Before, Initialised, TornDown };
std::atomic<Phase> phase{Phase::Before};

Variant read_variant() {
    const char* word = std::getenv("PEERCOLL_SIMULATOR_VARIANT");
    const std::string name = word == nullptr ? "" : word;
    if (name.empty() || name == "usual") {
        return Variant::Usual;
    }
    if (name == "stub") {
        return Variant::Stub;
    }
    if (name == "no_device") {
        return Variant::NoDevice;
    }
    if (name == "driver_mismatch") {
        return Variant::DriverMismatch;
    }
    std::fprintf(stderr,
                 "peercoll simulator: PEERCOLL_SIMULATOR_VARIANT is '%s', expected usual, stub, no_device or "
                 "driver_mismatch\n",
                 name.c_str());
    std::abort();
}

CUresult initialise() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (phase.load() == Phase::Initialised) {
        return driver().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
    }
    std::string error;
    if (!start_process(error)) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.c_str());
        return CUDA_ERROR_UNKNOWN;
    }
    driver().find_devices();
    if (driver().devices.empty()) {
        return CUDA_ERROR_NO_DEVICE;
    }
    std::atexit(tear_down);
    phase.store(Phase::Initialised);
    return CUDA_SUCCESS;
}

}  // namespace

Variant variant() {
    static const Variant variant = read_variant();
    return variant;
}

CUresult gate() {
    if (variant() == Variant::Stub) {
        return CUDA_ERROR_STUB_LIBRARY;
    }
    switch (phase.load()) {
        case Phase::Before:
            return CUDA_ERROR_NOT_INITIALIZED;
        case Phase::TornDown:
            return CUDA_ERROR_DEINITIALIZED;
        case Phase::Initialised:
            break;
    }
    if (forked()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return Scheduler::inside() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

void tear_down() {
    if (forked()) {
        return;
    }
    phase.store(Phase::TornDown);
    process().scheduler().stop(std::chrono::seconds(1));
    Driver& all = driver();
    LeakCount leaks;
    leaks.add_memory(process().addresses());
    leaks.add("stream", all.streams.size());
    leaks.add("event", all.events.size());
    leaks.add("pushed context", static_cast<std::size_t>(std::max(0L, all.pushed.load())));
    std::size_t retains = 0;
    for (const Device& device : all.devices) {
        retains += device.retains;
    }
    leaks.add("retained primary context", retains);
    add_virtual_memory_leaks(leaks);
    leaks.report();
}

extern "C" {

CUresult cuInit(unsigned flags) {
    switch (variant()) {
        case Variant::Stub:
            return CUDA_ERROR_STUB_LIBRARY;
        case Variant::NoDevice:
            return CUDA_ERROR_NO_DEVICE;
        case Variant::DriverMismatch:
            return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
        case Variant::Usual:
            break;
    }
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (forked()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    try {
        return initialise();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.what());
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
}

CUresult cuDriverGetVersion(int* version) {
    if (variant() == Variant::Stub) {
        return CUDA_ERROR_STUB_LIBRARY;
    }
    if (version == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    // Does not need cuInit.
    std::string error;
    if (!start_process(error)) {
        return CUDA_ERROR_UNKNOWN;
    }
    *version = reported_driver_version();
    return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
