// SPDX-License-Identifier: BSD-3-Clause
// Copies and fills. What HIP calls synchronous is only queued where both memories are a device's, and for a fill,
// unless the memory's SYNC_MEMOPS is set.
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

#include <cstddef>
#include <cstring>

namespace peercoll::simulator::hip {

namespace {

struct Side {
    const void* address;
    std::shared_ptr<Mapping> mapping;  // null: pageable host memory

    explicit Side(const void* at) : address(at), mapping(find_mapping(at)) {}
    bool pageable() const { return !mapping; }
    bool on_device() const { return mapping && !mapping->is_host() && mapping->kind != MemoryKind::Managed; }
    bool on_host() const { return !mapping || mapping->is_host() || mapping->kind == MemoryKind::Managed; }
    bool synchronous() const { return mapping && mapping->synchronous.load(); }
};

bool legal(const Device& device, const Side& side, std::size_t bytes, bool write) {
    return resolve_for_copy(*device.execution, number(side.address), bytes, write).address != nullptr;
}

bool as_said(int kind, const Side& to, const Side& from) {
    switch (kind) {
        case hipMemcpyHostToHost:
            return to.on_host() && from.on_host();
        case hipMemcpyHostToDevice:
            return from.on_host();
        case hipMemcpyDeviceToHost:
            return to.on_host();
        case hipMemcpyDeviceToDevice:
            return !to.pageable() && !from.pageable();
        default:
            return kind == hipMemcpyDefault;
    }
}

// The bytes of pageable memory are taken now: the application may change them once the call has returned.
std::function<Result()> copy_work(const Device& device, const Side& to, const Side& from, std::size_t bytes) {
    const auto execution = device.execution;
    const std::uint64_t target = number(to.address);
    const std::uint64_t source = number(from.address);
    if (!from.pageable()) {
        return [=] { return copy_bytes(*execution, target, source, bytes); };
    }
    auto taken = std::make_shared<std::vector<std::byte>>(bytes);
    std::memcpy(taken->data(), from.address, bytes);
    return [=] { return copy_bytes(*execution, target, number(taken->data()), bytes); };
}

enum class Wait { No, AsHipDoes };

hipError_t copy(const Device& device, void* to_address, const void* from_address, std::size_t bytes, int kind,
                hipStream_t handle, Wait wait) {
    const auto stream = find_stream(handle);
    if (!stream) {
        return hipErrorContextIsDestroyed;
    }
    if (bytes == 0) {
        return hipSuccess;
    }
    const Side to(to_address);
    const Side from(from_address);
    if (!as_said(kind, to, from)) {
        return hipErrorInvalidMemcpyDirection;
    }
    if (!legal(device, to, bytes, true) || !legal(device, from, bytes, false)) {
        return hipErrorInvalidValue;
    }
    submit(*stream, copy_work(device, to, from, bytes));
    bool done = wait == Wait::AsHipDoes || to.pageable();
    if (wait == Wait::AsHipDoes && to.on_device() && from.on_device()) {
        done = to.synchronous() || from.synchronous();
    }
    if (done) {
        process().scheduler().synchronize(*stream->stream);
    }
    return check(device);
}

hipError_t copy_between(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                        hipStream_t stream, Wait wait) {
    return call_on_device([&](Device& device) {
        if (!is_device(to_device) || !is_device(from_device)) {
            return hipErrorInvalidDevice;
        }
        if (!Side(to).on_device() || !Side(from).on_device()) {
            return hipErrorInvalidValue;
        }
        return copy(device, to, from, bytes, hipMemcpyDeviceToDevice, stream, wait);
    });
}

hipError_t fill(void* address, int value, std::size_t bytes, hipStream_t handle, Wait wait) {
    return call_on_device([&](Device& device) {
        const Side to(address);
        const auto stream = find_stream(handle);
        if (!stream) {
            return hipErrorContextIsDestroyed;
        }
        if (bytes == 0) {
            return hipSuccess;
        }
        if (to.pageable() || !legal(device, to, bytes, true)) {
            return hipErrorInvalidValue;
        }
        const auto execution = device.execution;
        const auto pattern = static_cast<std::uint32_t>(value & 0xff);
        submit(*stream, [=] { return fill_bytes(*execution, number(address), pattern, 1, bytes); });
        if (wait == Wait::AsHipDoes && (!to.on_device() || to.synchronous())) {
            process().scheduler().synchronize(*stream->stream);
        }
        return check(device);
    });
}

}  // namespace

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
    note_call(Call::Copy);
    return call_on_device(
        [&](Device& device) { return copy(device, to, from, bytes, kind, nullptr, Wait::AsHipDoes); });
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, hipStream_t stream) {
    note_call(Call::Copy);
    return call_on_device([&](Device& device) { return copy(device, to, from, bytes, kind, stream, Wait::No); });
}

// Needs no peer access: HIP stages where it must.
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
    note_call(Call::Copy);
    return copy_between(to, to_device, from, from_device, bytes, nullptr, Wait::AsHipDoes);
}

hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                              hipStream_t stream) {
    note_call(Call::Copy);
    return copy_between(to, to_device, from, from_device, bytes, stream, Wait::No);
}

hipError_t hipMemset(void* address, int value, std::size_t bytes) {
    note_call(Call::Copy);
    return fill(address, value, bytes, nullptr, Wait::AsHipDoes);
}

hipError_t hipMemsetAsync(void* address, int value, std::size_t bytes, hipStream_t stream) {
    note_call(Call::Copy);
    return fill(address, value, bytes, stream, Wait::No);
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
