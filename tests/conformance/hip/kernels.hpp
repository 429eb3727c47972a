// SPDX-License-Identifier: BSD-3-Clause
// The suite's kernels, compiled by hiprtc for the current device and loaded there. Skips where there is no hiprtc.
#pragma once

#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/kernels/kernel_parameters.hpp"

#include <string>

namespace peercoll::conformance::hip {

// "gfx90a:sramecc+:xnack-" of a device, as its release writes it.
std::string architecture_of(int device);
// A code object for the current device.
const std::string& compiled_kernels();

inline std::uint64_t address_of(const void* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
}

class Kernels {
public:
    Kernels();
    ~Kernels();
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    // The code of the launch; what the kernel does shows later.
    HipError store(const Stream& stream, StoreParameters parameters) const {
        return launch(store_, stream, &parameters);
    }
    HipError copy(const Stream& stream, CopyParameters parameters) const { return launch(copy_, stream, &parameters); }
    HipError wait(const Stream& stream, WaitParameters parameters) const { return launch(wait_, stream, &parameters); }

private:
    HipFunction find(const char* name) const;
    static HipError launch(HipFunction function, const Stream& stream, void* parameters);

    HipModule module_ = nullptr;
    HipFunction store_ = nullptr;
    HipFunction copy_ = nullptr;
    HipFunction wait_ = nullptr;
};

}  // namespace peercoll::conformance::hip
