// SPDX-License-Identifier: BSD-3-Clause
// Device memory in MPI test programs, through the driver's own interface: opened by name, like an application whose
// runtime is found at run time. On the simulated node a processor that touches such memory gets a fault.
#pragma once

#include "support.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace test {

class Driver {
public:
    Driver() {
        library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        require(library_ != nullptr, "there is no libcuda.so.1: %s", library_ == nullptr ? dlerror() : "");
        int devices = 0;
        check(find<int(unsigned)>("cuInit")(0), "cuInit");
        check(find<int(int*)>("cuDeviceGetCount")(&devices), "cuDeviceGetCount");
        device_ = rank_of(MPI_COMM_WORLD) % devices;
        check(find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context_, device_), "cuDevicePrimaryCtxRetain");
        check(find<int(void*)>("cuCtxSetCurrent")(context_), "cuCtxSetCurrent");
        allocate_ = find<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2");
        free_ = find<int(std::uint64_t)>("cuMemFree_v2");
        upload_ = find<int(std::uint64_t, const void*, std::size_t)>("cuMemcpyHtoD_v2");
        download_ = find<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2");
    }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() {
        find<int(void*)>("cuCtxSetCurrent")(nullptr);
        find<int(int)>("cuDevicePrimaryCtxRelease_v2")(device_);
    }

    void* allocate(std::size_t bytes) const {
        std::uint64_t address = 0;
        check(allocate_(&address, bytes), "cuMemAlloc");
        return reinterpret_cast<void*>(address);
    }
    void free(void* memory) const { check(free_(reinterpret_cast<std::uint64_t>(memory)), "cuMemFree"); }
    void upload(void* to, const void* from, std::size_t bytes) const {
        check(upload_(reinterpret_cast<std::uint64_t>(to), from, bytes), "cuMemcpyHtoD");
    }
    void download(void* to, const void* from, std::size_t bytes) const {
        check(download_(to, reinterpret_cast<std::uint64_t>(from), bytes), "cuMemcpyDtoH");
    }

private:
    template <typename Function>
    Function* find(const char* name) const {
        void* symbol = dlsym(library_, name);
        require(symbol != nullptr, "libcuda.so.1 has no %s", name);
        return reinterpret_cast<Function*>(symbol);
    }
    static void check(int result, const char* call) { require(result == 0, "%s failed with %d", call, result); }

    void* library_ = nullptr;
    int device_ = 0;
    void* context_ = nullptr;
    int (*allocate_)(std::uint64_t*, std::size_t) = nullptr;
    int (*free_)(std::uint64_t) = nullptr;
    int (*upload_)(std::uint64_t, const void*, std::size_t) = nullptr;
    int (*download_)(void*, std::uint64_t, std::size_t) = nullptr;
};

}  // namespace test
