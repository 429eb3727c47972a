// SPDX-License-Identifier: BSD-3-Clause
// The suite's kernels, loaded into the current context.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"
#include "tests/conformance/kernels/kernel_parameters.hpp"

namespace peercoll::conformance::cuda {

extern const char kernel_image[];

class Kernels {
public:
    Kernels();
    ~Kernels();
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    // The code of the launch; what the kernel does shows later.
    CUresult store(const Stream& stream, StoreParameters parameters) const {
        return launch(store_, stream, &parameters);
    }
    CUresult copy(const Stream& stream, CopyParameters parameters) const { return launch(copy_, stream, &parameters); }
    CUresult wait(const Stream& stream, WaitParameters parameters) const { return launch(wait_, stream, &parameters); }

private:
    CUfunction find(const char* name) const;
    static CUresult launch(CUfunction function, const Stream& stream, void* parameters);

    CUmodule module_ = nullptr;
    CUfunction store_ = nullptr;
    CUfunction copy_ = nullptr;
    CUfunction wait_ = nullptr;
};

}  // namespace peercoll::conformance::cuda
