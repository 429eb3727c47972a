// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/kernels.hpp"

namespace peercoll::conformance::cuda {

Kernels::Kernels() {
    need("cuModuleLoadData", driver().cuModuleLoadData(&module_, kernel_image));
    store_ = find("peercoll_conformance_store");
    copy_ = find("peercoll_conformance_copy");
    wait_ = find("peercoll_conformance_wait");
}

Kernels::~Kernels() {
    driver().cuModuleUnload(module_);
}

CUfunction Kernels::find(const char* name) const {
    CUfunction function = nullptr;
    need("cuModuleGetFunction", driver().cuModuleGetFunction(&function, module_, name));
    return function;
}

CUresult Kernels::launch(CUfunction function, const Stream& stream, void* parameters) {
    return driver().cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream.get(), &parameters, nullptr);
}

}  // namespace peercoll::conformance::cuda
