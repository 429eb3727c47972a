// SPDX-License-Identifier: BSD-3-Clause
// What the program takes of a runtime, each given back with its owner: memory, streams, peer access.
#pragma once

#include "mpi_examples/peer_copy/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <fmt/format.h>

namespace peercoll::peer_copy {

class DeviceBuffer {
public:
    DeviceBuffer(const Runtime& runtime, std::int32_t device, std::size_t bytes) : runtime_(runtime), device_(device) {
        peercoll_reason_t reason{};
        require(runtime->allocate(device, bytes, &address_, &reason), reason,
                fmt::format("allocating {} bytes on device {}", bytes, device));
    }
    ~DeviceBuffer() { runtime_->free_memory(device_, address_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    std::uint64_t address() const { return address_; }

private:
    const Runtime& runtime_;
    std::int32_t device_;
    std::uint64_t address_ = 0;
};

class HostBuffer {
public:
    HostBuffer(const Runtime& runtime, std::int32_t device, std::size_t bytes)
        : runtime_(runtime), device_(device), bytes_(bytes) {
        peercoll_reason_t reason{};
        require(runtime->allocate_host(device, bytes, &memory_, &reason), reason,
                fmt::format("allocating {} bytes of host memory for device {}", bytes, device));
    }
    ~HostBuffer() { runtime_->free_host(device_, memory_); }
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;
    std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), bytes_}; }
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_); }

private:
    const Runtime& runtime_;
    std::int32_t device_;
    std::size_t bytes_;
    void* memory_ = nullptr;
};

class Stream {
public:
    Stream(const Runtime& runtime, std::int32_t device) : runtime_(runtime), device_(device) {
        peercoll_reason_t reason{};
        require(runtime->stream_create(device, &stream_, &reason), reason,
                fmt::format("making a stream on device {}", device));
    }
    ~Stream() { runtime_->stream_destroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    peercoll_stream_t get() const { return stream_; }
    void synchronize() const {
        peercoll_reason_t reason{};
        require(runtime_->stream_synchronize(stream_, &reason), reason,
                fmt::format("waiting for work on device {}", device_));
    }

private:
    const Runtime& runtime_;
    std::int32_t device_;
    peercoll_stream_t stream_ = nullptr;
};

// Access in one direction: kernels and copies of `device` may use what `peer` has. A device has access to itself.
class PeerAccess {
public:
    PeerAccess(const Runtime& runtime, std::int32_t device, std::int32_t peer)
        : runtime_(runtime), device_(device), peer_(peer) {
        peercoll_reason_t reason{};
        require(runtime->enable_peer(device, peer, &reason), reason,
                fmt::format("enabling access of device {} to device {}", device, peer));
        enabled_ = true;
    }
    // Takes it back, so that a failure is seen; what the destructor takes back is after a failure already.
    void disable() {
        enabled_ = false;
        peercoll_reason_t reason{};
        require(runtime_->disable_peer(device_, peer_, &reason), reason,
                fmt::format("disabling access of device {} to device {}", device_, peer_));
    }
    ~PeerAccess() {
        if (enabled_) runtime_->disable_peer(device_, peer_, nullptr);
    }
    PeerAccess(const PeerAccess&) = delete;
    PeerAccess& operator=(const PeerAccess&) = delete;

private:
    const Runtime& runtime_;
    std::int32_t device_;
    std::int32_t peer_;
    bool enabled_ = false;
};

}  // namespace peercoll::peer_copy
