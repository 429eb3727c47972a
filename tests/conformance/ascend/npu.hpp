// SPDX-License-Identifier: BSD-3-Clause
// What most behaviours stand on: ACL initialised, devices in use, memory on them, streams. What fails here is not what
// a behaviour looks at: it ends the behaviour with a sentence.
#pragma once

#include "tests/conformance/ascend/library.hpp"
#include "tests/conformance/runner/preparation.hpp"

#include <cstring>
#include <span>
#include <vector>

namespace peercoll::conformance::ascend {

// aclInit, and at least `devices` devices, or the behaviour is skipped.
void need_devices(Scene& scene, std::uint32_t devices);
// Two that say that they reach each other.
void need_peers(Scene& scene);
// "Ascend910B3"; the beginning tells what a device can.
std::string soc();
inline bool is_soc(const char* family) {
    return soc().starts_with(family);
}

// A device that this process uses, and its context, which is the current one at first.
class Npu {
public:
    explicit Npu(Scene& scene, std::int32_t ordinal = 0);
    ~Npu();
    Npu(const Npu&) = delete;
    Npu& operator=(const Npu&) = delete;
    void use() const { need("aclrtSetCurrentContext", lib().aclrtSetCurrentContext(context_)); }

private:
    std::int32_t ordinal_;
    AclContext context_ = nullptr;
};

// Of a policy that lets other devices reach it. free() to see the code; the destructor tolerates everything.
class Memory {
public:
    Memory(const Npu& npu, std::size_t bytes) : npu_(&npu), bytes_(bytes) {
        npu.use();
        need("aclrtMalloc", lib().aclrtMalloc(&address_, bytes, malloc_huge_first_p2p));
    }
    ~Memory() {
        if (address_ != nullptr) free();
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(address_) + offset; }
    std::size_t bytes() const { return bytes_; }
    AclError free() {
        npu_->use();
        const AclError error = lib().aclrtFree(address_);
        address_ = nullptr;
        return error;
    }
    // Complete on return; the memory's device is the current one then.
    void store(const std::vector<std::uint64_t>& words, std::size_t offset = 0) const;
    std::vector<std::uint64_t> load(std::size_t count, std::size_t offset = 0) const;

private:
    const Npu* npu_;
    void* address_ = nullptr;
    std::size_t bytes_;
};

class Stream {
public:
    Stream() { need("aclrtCreateStream", lib().aclrtCreateStream(&handle_)); }
    ~Stream() { lib().aclrtDestroyStream(handle_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    AclStream get() const { return handle_; }
    AclError synchronize() const { return lib().aclrtSynchronizeStream(handle_); }

private:
    AclStream handle_ = nullptr;
};

// Host memory that asynchronous copies take in every release.
class HostMemory {
public:
    explicit HostMemory(std::size_t bytes) : bytes_(bytes) {
        need("aclrtMallocHost", lib().aclrtMallocHost(&address_, bytes));
    }
    ~HostMemory() { lib().aclrtFreeHost(address_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    std::uint64_t* words() const { return static_cast<std::uint64_t*>(address_); }
    std::size_t bytes() const { return bytes_; }

private:
    void* address_ = nullptr;
    std::size_t bytes_;
};

}  // namespace peercoll::conformance::ascend
