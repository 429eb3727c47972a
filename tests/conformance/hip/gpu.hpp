// SPDX-License-Identifier: BSD-3-Clause
// What most behaviours stand on: devices, memory on them, streams. What fails here is not what a behaviour looks at: it
// ends the behaviour with a sentence.
#pragma once

#include "tests/conformance/hip/library.hpp"
#include "tests/conformance/runner/gate.hpp"
#include "tests/conformance/runner/preparation.hpp"

#include <span>
#include <vector>

namespace peercoll::conformance::hip {

inline constexpr int copy_host_to_device = 1;
inline constexpr int copy_device_to_host = 2;
inline constexpr int copy_device_to_device = 3;

// At least `devices` devices, or the behaviour is skipped. Device 0 is the current one.
void need_devices(Scene& scene, int devices);
// Two that say that they reach each other.
void need_peers(Scene& scene);

// Makes a device the current one for a while.
class OnDevice {
public:
    explicit OnDevice(int device) {
        need("hipGetDevice", lib().hipGetDevice(&before_));
        need("hipSetDevice", lib().hipSetDevice(device));
    }
    ~OnDevice() { lib().hipSetDevice(before_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

private:
    int before_ = 0;
};

// hipMalloc memory on a device. free() to see the code; the destructor tolerates everything.
class Memory {
public:
    explicit Memory(std::size_t bytes, int device = 0) : bytes_(bytes), device_(device) {
        const OnDevice current(device);
        need("hipMalloc", lib().hipMalloc(&address_, bytes));
    }
    ~Memory() { free(); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(address_) + offset; }
    std::size_t bytes() const { return bytes_; }
    HipError free() {
        if (address_ == nullptr) return code::success;
        const OnDevice current(device_);
        const HipError error = lib().hipFree(address_);
        address_ = nullptr;
        return error;
    }

private:
    void* address_ = nullptr;
    std::size_t bytes_;
    int device_;
};

class Stream {
public:
    explicit Stream(unsigned flags = stream_non_blocking) {
        need("hipStreamCreateWithFlags", lib().hipStreamCreateWithFlags(&handle_, flags));
    }
    ~Stream() { lib().hipStreamDestroy(handle_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    HipStream get() const { return handle_; }
    HipError synchronize() const { return lib().hipStreamSynchronize(handle_); }

private:
    HipStream handle_ = nullptr;
};

class Event {
public:
    explicit Event(unsigned flags = event_disable_timing) {
        need("hipEventCreateWithFlags", lib().hipEventCreateWithFlags(&handle_, flags));
    }
    ~Event() { lib().hipEventDestroy(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    HipEvent get() const { return handle_; }

private:
    HipEvent handle_ = nullptr;
};

// Holds a stream of the current device until it is told not to, in the way that all releases have.
class StreamGate {
public:
    explicit StreamGate(HipStream stream) {
        need("hipStreamAddCallback",
             lib().hipStreamAddCallback(
                 stream, [](HipStream, HipError, void* gate) { static_cast<Gate*>(gate)->pass(); }, &gate_, 0));
    }
    ~StreamGate() {
        open();
        lib().hipDeviceSynchronize();
    }
    StreamGate(const StreamGate&) = delete;
    StreamGate& operator=(const StreamGate&) = delete;
    void open() { gate_.open(); }

private:
    Gate gate_;
};

bool becomes_idle(HipStream stream, int limit_ms = 20'000);

// Complete on return.
void store(void* address, std::span<const std::uint64_t> words);
std::vector<std::uint64_t> load(const void* address, std::size_t count);

HipPointerAttributes attributes_of(const void* address);
std::size_t free_bytes();

}  // namespace peercoll::conformance::hip
