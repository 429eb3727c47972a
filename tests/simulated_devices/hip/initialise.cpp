// SPDX-License-Identifier: BSD-3-Clause
// The first call, the gate in front of all others, and the end of the process. Without a device HIP says so in one way
// to hipGetDeviceCount (100) and in another to everything else (101).
#include "tests/simulated_devices/core/leaks.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"
#include "tests/simulated_devices/hip/version.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace peercoll::simulator::hip {

namespace {

enum class Phase { Before, Initialised, NoDevice, TornDown };
std::atomic<Phase> phase{Phase::Before};

bool told_to_have_none() {
    const char* word = std::getenv("PEERCOLL_SIMULATOR_VARIANT");
    const std::string name = word == nullptr ? "" : word;
    if (!name.empty() && name != "usual" && name != "no_device") {
        std::fprintf(stderr, "peercoll simulator: PEERCOLL_SIMULATOR_VARIANT is '%s', expected usual or no_device\n",
                     name.c_str());
        std::abort();
    }
    return name == "no_device";
}

void initialise() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (phase.load() != Phase::Before) {
        return;
    }
    std::string error;
    if (told_to_have_none()) {
        phase.store(Phase::NoDevice);
        return;
    }
    if (!start_process(error)) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.c_str());
        phase.store(Phase::NoDevice);
        return;
    }
    runtime().find_devices();
    if (runtime().devices.empty()) {
        phase.store(Phase::NoDevice);
        return;
    }
    std::atexit(tear_down);
    phase.store(Phase::Initialised);
}

}  // namespace

hipError_t gate() {
    if (phase.load() == Phase::Before) {
        try {
            initialise();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "peercoll simulator: %s\n", error.what());
            return hipErrorUnknown;
        }
    }
    switch (phase.load()) {
        case Phase::NoDevice:
            return hipErrorInvalidDevice;
        case Phase::TornDown:
            return hipErrorDeinitialized;
        default:
            break;
    }
    if (forked()) {
        return hipErrorNotInitialized;
    }
    return Scheduler::inside() ? hipErrorNotSupported : hipSuccess;
}

void tear_down() {
    if (forked()) {
        return;
    }
    phase.store(Phase::TornDown);
    process().scheduler().stop(std::chrono::seconds(1));
    Runtime& all = runtime();
    LeakCount leaks;
    leaks.add_memory(process().addresses());
    leaks.add("stream", all.streams.size());
    leaks.add("event", all.events.size());
    leaks.add("module", all.modules.size());
    std::size_t peers = 0;
    for (const auto& device : all.devices) {
        peers += static_cast<std::size_t>(std::popcount(device->execution->peers.load()));
    }
    leaks.add("peer left enabled, in this direction,", peers);
    leaks.report();
}

extern "C" {

hipError_t hipInit(unsigned flags) {
    return call([&] { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipRuntimeGetVersion(int* version) {
    if (version == nullptr) {
        return finish(hipErrorInvalidValue);
    }
    *version = runtime_version();
    return finish(hipSuccess);
}

hipError_t hipDriverGetVersion(int* version) {
    return hipRuntimeGetVersion(version);
}

// Of ROCr, with which libamdhip64 is linked: not started (4107) until HIP is. HIP starts at its first call, this is
// none.
int hsa_system_get_info(int attribute, void* value) {
    constexpr int hsa_success = 0;
    constexpr int hsa_invalid_argument = 4097;
    constexpr int hsa_not_initialized = 4107;
    constexpr int version_major = 0;
    if (phase.load() != Phase::Initialised) {
        return hsa_not_initialized;
    }
    if (attribute != version_major || value == nullptr) {
        return hsa_invalid_argument;
    }
    constexpr std::uint16_t version = 1;
    std::memcpy(value, &version, sizeof version);
    return hsa_success;
}

hipError_t hipGetDeviceCount(int* count) {
    if (count == nullptr) {
        return finish(hipErrorInvalidValue);
    }
    *count = 0;
    const hipError_t refused = gate();
    if (refused != hipSuccess) {
        return finish(refused == hipErrorInvalidDevice ? hipErrorNoDevice : refused);
    }
    *count = static_cast<int>(runtime().devices.size());
    return finish(hipSuccess);
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
