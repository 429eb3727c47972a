// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/hip/library.hpp"

#include <dlfcn.h>

namespace peercoll::conformance::hip {

void* hip_library() {
    static void* const library = [] {
        for (const char* const name : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
            if (void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL); opened != nullptr) return opened;
        throw SkipReason(std::string("no HIP runtime: ") + dlerror());
    }();
    return library;
}

void* find_in_hip(const char* symbol) {
    return dlsym(hip_library(), symbol);
}

const Library& lib() {
    static const Library loaded;
    return loaded;
}

}  // namespace peercoll::conformance::hip
