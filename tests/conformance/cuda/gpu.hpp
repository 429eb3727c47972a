// SPDX-License-Identifier: BSD-3-Clause
// What most behaviours stand on: a device whose primary context is current, memory on it, streams. What fails here is
// not what a behaviour looks at: it ends the behaviour with a sentence.
#pragma once

#include "tests/conformance/cuda/driver.hpp"
#include "tests/conformance/runner/preparation.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace peercoll::conformance::cuda {

// cuInit, and at least `devices` devices or the behaviour is skipped.
void need_devices(Scene& scene, int devices);

// A device with its primary context retained and current on this thread; given back at the end.
class Gpu {
public:
    explicit Gpu(Scene& scene, int ordinal = 0);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    CUdevice device() const { return device_; }
    CUcontext context() const { return context_; }
    int attribute(DeviceAttribute attribute) const;

private:
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
};

// Makes a context current for a while.
class Current {
public:
    explicit Current(const Gpu& gpu) { need("cuCtxPushCurrent", driver().cuCtxPushCurrent(gpu.context())); }
    ~Current() {
        CUcontext popped = nullptr;
        driver().cuCtxPopCurrent(&popped);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
};

// cuMemAlloc memory in the current context. free() to see the code; the destructor tolerates everything.
class Memory {
public:
    explicit Memory(std::size_t bytes) : bytes_(bytes) { need("cuMemAlloc", driver().cuMemAlloc(&address_, bytes)); }
    ~Memory() { free(); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    CUresult free();

private:
    CUdeviceptr address_ = 0;
    std::size_t bytes_;
};

class Stream {
public:
    explicit Stream(unsigned flags = stream_non_blocking) {
        need("cuStreamCreate", driver().cuStreamCreate(&handle_, flags));
    }
    ~Stream() { driver().cuStreamDestroy(handle_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    CUstream get() const { return handle_; }
    CUresult synchronize() const { return driver().cuStreamSynchronize(handle_); }

private:
    CUstream handle_ = nullptr;
};

// Synchronous, and complete on return.
void store(CUdeviceptr address, std::span<const std::uint64_t> words);
std::vector<std::uint64_t> load(CUdeviceptr address, std::size_t count);

std::uint64_t buffer_id(CUdeviceptr address);
std::size_t free_bytes();

}  // namespace peercoll::conformance::cuda
