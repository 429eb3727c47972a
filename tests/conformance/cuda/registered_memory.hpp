// SPDX-License-Identifier: BSD-3-Clause
// Shared host memory that the current device reaches too: what flags lie in.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"
#include "tests/conformance/runner/shared_host_memory.hpp"

namespace peercoll::conformance::cuda {

class RegisteredMemory {
public:
    explicit RegisteredMemory(const SharedHostMemory& memory) : memory_(&memory) {
        need("cuMemHostRegister",
             driver().cuMemHostRegister(memory.address(), memory.bytes(), host_register_portable_mapped));
        need("cuMemHostGetDevicePointer", driver().cuMemHostGetDevicePointer(&device_address_, memory.address(), 0));
    }
    ~RegisteredMemory() { driver().cuMemHostUnregister(memory_->address()); }
    RegisteredMemory(const RegisteredMemory&) = delete;
    RegisteredMemory& operator=(const RegisteredMemory&) = delete;

    CUdeviceptr device_address(std::size_t word = 0) const { return device_address_ + 8 * word; }

private:
    const SharedHostMemory* memory_;
    CUdeviceptr device_address_ = 0;
};

}  // namespace peercoll::conformance::cuda
