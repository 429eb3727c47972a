// SPDX-License-Identifier: BSD-3-Clause
#include "tests/vendors/allocate.hpp"

#include <dlfcn.h>

namespace peercoll::test {

namespace {

void* open_library(const std::string& vendor) {
    const char* const name = vendor == "cuda" ? "libcuda.so.1" : vendor == "hip" ? "libamdhip64.so" : "libascendcl.so";
    return ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

// Calls a function that gives 0 for success. -1: it is not there.
template <typename... Arguments>
int call(void* library, const char* symbol, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, symbol));
    return function == nullptr ? -1 : function(arguments...);
}

int start(const std::string& vendor, void* library) {
    if (vendor == "hip") return call(library, "hipInit", 0U);
    if (vendor == "ascend") {
        const int error = call(library, "aclInit", static_cast<const char*>(nullptr));
        return error != 0 ? error : call(library, "aclrtSetDevice", 0);
    }
    void* context = nullptr;
    int error = call(library, "cuInit", 0U);
    if (error == 0) error = call(library, "cuDevicePrimaryCtxRetain", &context, 0);
    return error != 0 ? error : call(library, "cuCtxPushCurrent_v2", context);
}

int allocate(const std::string& vendor, void* library, void** memory, std::size_t bytes) {
    if (vendor == "hip") return call(library, "hipMalloc", memory, bytes);
    constexpr int huge_first_p2p = 3;
    if (vendor == "ascend") return call(library, "aclrtMalloc", memory, bytes, huge_first_p2p);
    return call(library, "cuMemAlloc_v2", memory, bytes);
}

}  // namespace

void* allocate_on_device(const std::string& vendor, std::size_t bytes, std::string& problem) {
    void* const library = open_library(vendor);
    if (library == nullptr) {
        problem = ::dlerror();
        return nullptr;
    }
    void* memory = nullptr;
    int error = start(vendor, library);
    if (error == 0) error = allocate(vendor, library, &memory, bytes);
    if (error == 0) return memory;
    problem = error == -1 ? "its functions are not there" : "it answers " + std::to_string(error);
    return nullptr;
}

void free_on_device(const std::string& vendor, void* memory) {
    void* const library = open_library(vendor);
    if (vendor == "hip") {
        (void)call(library, "hipFree", memory);
    } else if (vendor == "ascend") {
        (void)call(library, "aclrtFree", memory);
        (void)call(library, "aclrtResetDevice", 0);
    } else {
        void* context = nullptr;
        (void)call(library, "cuMemFree_v2", memory);
        (void)call(library, "cuCtxPopCurrent_v2", &context);
        (void)call(library, "cuDevicePrimaryCtxRelease_v2", 0);
    }
}

}  // namespace peercoll::test
