// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/device_runtimes/counted_runtime.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

namespace peercoll::test {

namespace {

peercoll_status_t answer(peercoll_reason_t* reason) {
    if (!counts().refuses) return PEERCOLL_SUCCESS;
    if (reason != nullptr) std::snprintf(reason->text, sizeof reason->text, "refused by the test");
    return PEERCOLL_ERR_SYSTEM;
}

peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    *stream = nullptr;
    if (const peercoll_status_t status = answer(reason); status != PEERCOLL_SUCCESS) return status;
    *stream = std::make_unique<peercoll_stream>(peercoll_stream{device}).release();
    ++counts().streams_made;
    ++counts().streams_there;
    return PEERCOLL_SUCCESS;
}

void stream_destroy(peercoll_stream_t stream) {
    const std::unique_ptr<peercoll_stream> gone(stream);
    --counts().streams_there;
}

peercoll_status_t stream_query(peercoll_stream_t, peercoll_reason_t* reason) {
    return counts().busy ? PEERCOLL_ERR_BUSY : answer(reason);
}

peercoll_status_t stream_synchronize(peercoll_stream_t, peercoll_reason_t* reason) {
    return answer(reason);
}

peercoll_status_t copy(peercoll_stream_t, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason) {
    if (const peercoll_status_t status = answer(reason); status != PEERCOLL_SUCCESS) return status;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return PEERCOLL_SUCCESS;
}

peercoll_status_t register_host(int32_t, void* address, size_t, uint64_t* device_address, peercoll_reason_t* reason) {
    if (const peercoll_status_t status = answer(reason); status != PEERCOLL_SUCCESS) return status;
    *device_address = reinterpret_cast<std::uintptr_t>(address);
    ++counts().registrations_made;
    ++counts().registrations_there;
    return PEERCOLL_SUCCESS;
}

void unregister_host(int32_t, void*) {
    --counts().registrations_there;
}

peercoll_device_runtime_t make(const char* name) {
    peercoll_device_runtime_t made{};
    made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
    made.struct_size = sizeof made;
    made.name = name;
    made.stream_create = stream_create;
    made.stream_destroy = stream_destroy;
    made.stream_query = stream_query;
    made.stream_synchronize = stream_synchronize;
    made.copy = copy;
    made.register_host = register_host;
    made.unregister_host = unregister_host;
    return made;
}

}  // namespace

const peercoll_device_runtime_t& counted_runtime() {
    static const peercoll_device_runtime_t runtime = make("counted");
    return runtime;
}

const peercoll_device_runtime_t& other_runtime() {
    static const peercoll_device_runtime_t runtime = make("other");
    return runtime;
}

const peercoll_device_runtime_t& runtime_without_pinning() {
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made = make("short");
        made.struct_size = offsetof(peercoll_device_runtime_t, register_host);
        return made;
    }();
    return runtime;
}

Counts& counts() {
    static Counts one;
    return one;
}

void reset_counts() {
    Counts& all = counts();
    for (std::atomic<int>* count :
         {&all.streams_made, &all.streams_there, &all.registrations_made, &all.registrations_there})
        *count = 0;
    all.refuses = false;
    all.busy = false;
}

}  // namespace peercoll::test
