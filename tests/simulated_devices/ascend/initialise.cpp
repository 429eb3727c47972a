// SPDX-License-Identifier: BSD-3-Clause
// Initialisation and its count, the gate in front of all other calls, errors, and the end of the process. A second
// aclInit() says "repeated" and counts; aclFinalize() ends everything, whatever the count.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/leaks.hpp"

#include <chrono>
#include <cstdlib>
#include <utility>

namespace peercoll::simulator::acl {

namespace {

std::mutex mutex;  // guards what follows
std::uint64_t references = 0;
bool started = false;
bool torn_down = false;

thread_local aclError last_error = ACL_SUCCESS;
thread_local std::string message;
thread_local std::string given_message;

std::string variant() {
    const char* word = std::getenv("PEERCOLL_SIMULATOR_VARIANT");
    std::string name = word == nullptr || *word == '\0' ? "usual" : word;
    if (name != "usual" && name != "no_device" && name != "stub") {
        std::fprintf(stderr,
                     "peercoll simulator: PEERCOLL_SIMULATOR_VARIANT is '%s', expected usual, no_device or stub\n",
                     name.c_str());
        std::abort();
    }
    return name;
}

void tear_down() {
    if (forked()) {
        return;
    }
    {
        const std::lock_guard lock(mutex);
        torn_down = true;
    }
    process().scheduler().stop(std::chrono::seconds(1));
    Runtime& all = runtime();
    LeakCount leaks;
    leaks.add_memory(process().addresses());
    leaks.add("stream", all.streams.size());
    leaks.add("event", all.events.size());
    leaks.add("key of memory", key_count());
    std::size_t peers = 0;
    for (const auto& [pair, count] : all.peers) {
        peers += static_cast<std::size_t>(count);
    }
    leaks.add("peer left enabled, in this direction,", peers);
    leaks.report();
}

aclError start() {
    std::string error;
    if (!start_process(error)) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.c_str());
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    runtime().find_devices();
    std::atexit(tear_down);
    started = true;
    return ACL_SUCCESS;
}

}  // namespace

aclError finish(aclError result) {
    if (result != ACL_SUCCESS) {
        last_error = result;
        message = "EE" + std::to_string(result) + ": the simulated runtime refuses\nand has no more to say";
    }
    return result;
}

aclError gate() {
    if (variant() == "stub") {
        return ACL_ERROR_COMPILING_STUB_MODE;
    }
    const std::lock_guard lock(mutex);
    if (references == 0 || torn_down) {
        return ACL_ERROR_UNINITIALIZE;
    }
    return forked() ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_SUCCESS;
}

extern "C" {

aclError aclInit(const char*) {
    if (variant() == "stub") {
        return ACL_ERROR_COMPILING_STUB_MODE;
    }
    const std::lock_guard lock(mutex);
    if (!started) {
        if (const aclError error = start(); error != ACL_SUCCESS) {
            return error;
        }
    }
    return references++ == 0 ? ACL_SUCCESS : ACL_ERROR_REPEAT_INITIALIZE;
}

aclError aclFinalize(void) {
    const std::lock_guard lock(mutex);
    return std::exchange(references, 0) == 0 ? ACL_ERROR_REPEAT_FINALIZE : ACL_SUCCESS;
}

aclError aclFinalizeReference(std::uint64_t* count) {
    const std::lock_guard lock(mutex);
    if (references == 0) {
        return ACL_ERROR_REPEAT_FINALIZE;
    }
    --references;
    if (count != nullptr) {
        *count = references;
    }
    return ACL_SUCCESS;
}

aclError aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
    if (variant() == "stub") {
        return ACL_ERROR_COMPILING_STUB_MODE;
    }
    *major = 1;
    *minor = is_old() ? 2 : 17;
    *patch = 0;
    return ACL_SUCCESS;
}

// Once.
const char* aclGetRecentErrMsg(void) {
    if (message.empty()) {
        return nullptr;
    }
    given_message = std::exchange(message, {});
    return given_message.c_str();
}

aclError aclrtGetLastError(int) {
    return std::exchange(last_error, ACL_SUCCESS);
}

aclError aclrtPeekAtLastError(int) {
    return last_error;
}

const char* aclrtGetSocName(void) {
    static std::string name;
    if (gate() != ACL_SUCCESS) {
        return nullptr;
    }
    name = soc();
    return name.c_str();
}

aclError aclrtGetDeviceCount(std::uint32_t* count) {
    return call([&]() -> aclError {
        if (count == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *count = 0;
        if (variant() == "no_device" || runtime().devices.empty()) {
            return ACL_ERROR_RT_NO_DEVICE;
        }
        *count = static_cast<std::uint32_t>(runtime().devices.size());
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
