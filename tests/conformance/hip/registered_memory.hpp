// SPDX-License-Identifier: BSD-3-Clause
// Shared host memory that devices reach too: what flags lie in.
#pragma once

#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/runner/shared_host_memory.hpp"

namespace peercoll::conformance::hip {

class RegisteredMemory {
public:
    explicit RegisteredMemory(const SharedHostMemory& memory) : memory_(&memory) {
        need("hipHostRegister", lib().hipHostRegister(memory.address(), memory.bytes(), host_portable | host_mapped));
        void* reached = nullptr;
        need("hipHostGetDevicePointer", lib().hipHostGetDevicePointer(&reached, memory.address(), 0));
        device_address_ = reinterpret_cast<std::uint64_t>(reached);
    }
    ~RegisteredMemory() { lib().hipHostUnregister(memory_->address()); }
    RegisteredMemory(const RegisteredMemory&) = delete;
    RegisteredMemory& operator=(const RegisteredMemory&) = delete;

    std::uint64_t device_address(std::size_t word = 0) const { return device_address_ + 8 * word; }

private:
    const SharedHostMemory* memory_;
    std::uint64_t device_address_ = 0;
};

}  // namespace peercoll::conformance::hip
