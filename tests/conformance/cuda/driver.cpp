// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/driver.hpp"

#include <dlfcn.h>

namespace peercoll::conformance::cuda {

void* driver_library() {
    static void* const library = [] {
        void* const opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) throw SkipReason(std::string("no CUDA driver: ") + dlerror());
        return opened;
    }();
    return library;
}

void* find_in_driver(const char* symbol) {
    return dlsym(driver_library(), symbol);
}

const Driver& driver() {
    static const Driver loaded;
    return loaded;
}

}  // namespace peercoll::conformance::cuda
