// SPDX-License-Identifier: BSD-3-Clause
// A device runtime's memory, streams and mappings, each given back with its owner. Made for a short while, to prove a
// path with.
#pragma once

#include <peercoll/device.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace peercoll {

class DeviceMemory {
public:
    DeviceMemory(const peercoll_device_runtime_t& runtime, std::int32_t device) : runtime_(&runtime), device_(device) {}
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory() {
        if (address_ != 0) runtime_->free_memory(device_, address_);
    }
    bool allocate(std::size_t bytes, std::string& reason);
    std::uint64_t address() const { return address_; }

private:
    const peercoll_device_runtime_t* runtime_;
    std::int32_t device_;
    std::uint64_t address_ = 0;
};

class PinnedMemory {
public:
    PinnedMemory(const peercoll_device_runtime_t& runtime, std::int32_t device) : runtime_(&runtime), device_(device) {}
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    ~PinnedMemory() {
        if (address_ != nullptr) runtime_->free_host(device_, address_);
    }
    bool allocate(std::size_t bytes, std::string& reason);
    std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), bytes_}; }
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }

private:
    const peercoll_device_runtime_t* runtime_;
    std::int32_t device_;
    void* address_ = nullptr;
    std::size_t bytes_ = 0;
};

// Work in order. Nobody ever waits for it without a limit.
class DeviceStream {
public:
    DeviceStream(const peercoll_device_runtime_t& runtime, std::int32_t device) : runtime_(&runtime), device_(device) {}
    DeviceStream(const DeviceStream&) = delete;
    DeviceStream& operator=(const DeviceStream&) = delete;
    ~DeviceStream() {
        if (stream_ != nullptr) runtime_->stream_destroy(stream_);
    }
    bool create(std::string& reason);
    bool copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::string& reason);
    // A copy by a kernel.
    bool kernel_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::string& reason);
    // PEERCOLL_SUCCESS: all is done; PEERCOLL_ERR_BUSY: not yet at `deadline`; else it failed.
    peercoll_status_t wait(std::chrono::steady_clock::time_point deadline, std::string& reason);
    bool ended() const { return stream_ == nullptr || runtime_->stream_query(stream_, nullptr) != PEERCOLL_ERR_BUSY; }

private:
    const peercoll_device_runtime_t* runtime_;
    std::int32_t device_;
    peercoll_stream_t stream_ = nullptr;
};

// Memory of another process or another device, as `device` reaches it.
class Reachable {
public:
    Reachable(const peercoll_device_runtime_t& runtime, std::int32_t device) : runtime_(&runtime), device_(device) {}
    Reachable(const Reachable&) = delete;
    Reachable& operator=(const Reachable&) = delete;
    ~Reachable();
    bool import(const peercoll_memory_handle_t& handle, std::string& reason);
    // Of this process, on its device `peer`.
    bool enable(std::uint64_t address, std::int32_t peer, std::string& reason);
    std::uint64_t address() const { return mapped_ ? mapping_.address : address_; }

private:
    const peercoll_device_runtime_t* runtime_;
    std::int32_t device_;
    bool mapped_ = false;
    peercoll_mapping_t mapping_{};
    std::uint64_t address_ = 0;
    std::int32_t enabled_peer_ = -1;
};

}  // namespace peercoll
