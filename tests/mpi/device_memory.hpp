// SPDX-License-Identifier: BSD-3-Clause
// Device memory in MPI test programs, through the runtime's own interface: opened by name, like an application whose
// runtime is found at run time. CUDA's driver, or the library that TEST_HIP_LIBRARY or TEST_ASCEND_LIBRARY names. On
// the simulated node a processor that touches such memory gets a fault.
#pragma once

#include "support.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace test {

class Driver {
public:
    Driver() : hip_(std::getenv("TEST_HIP_LIBRARY")), ascend_(std::getenv("TEST_ASCEND_LIBRARY")) {
        const char* name = hip_ != nullptr ? hip_ : ascend_ != nullptr ? ascend_ : "libcuda.so.1";
        library_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        require(library_ != nullptr, "there is no %s: %s", name, library_ == nullptr ? dlerror() : "");
        if (hip_ != nullptr) {
            use_hip();
        } else if (ascend_ != nullptr) {
            use_ascend();
        } else {
            use_cuda();
        }
    }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() {
        if (ascend_ != nullptr) {
            find<int(int)>("aclrtResetDevice")(device_);
        } else if (hip_ == nullptr) {
            find<int(void*)>("cuCtxSetCurrent")(nullptr);
            find<int(int)>("cuDevicePrimaryCtxRelease_v2")(device_);
        }
    }

    void* allocate(std::size_t bytes) const {
        void* memory = nullptr;
        check(ascend_ != nullptr ? ascend_allocate_(&memory, bytes, 0) : allocate_(&memory, bytes), "an allocation");
        return memory;
    }
    void free(void* memory) const { check(free_(memory), "giving memory back"); }
    void upload(void* to, const void* from, std::size_t bytes) const {
        check(ascend_ != nullptr ? ascend_copy_(to, bytes, from, bytes, host_to_device)
              : hip_ != nullptr  ? copy_(to, from, bytes, host_to_device)
                                 : upload_(to, from, bytes),
              "an upload");
    }
    void download(void* to, const void* from, std::size_t bytes) const {
        check(ascend_ != nullptr ? ascend_copy_(to, bytes, from, bytes, device_to_host)
              : hip_ != nullptr  ? copy_(to, from, bytes, device_to_host)
                                 : download_(to, from, bytes),
              "a download");
    }

private:
    static constexpr int host_to_device = 1;  // hipMemcpyKind, aclrtMemcpyKind
    static constexpr int device_to_host = 2;

    // An address of a device is a number for CUDA, passed as a pointer is.
    void use_cuda() {
        int devices = 0;
        check(find<int(unsigned)>("cuInit")(0), "cuInit");
        check(find<int(int*)>("cuDeviceGetCount")(&devices), "cuDeviceGetCount");
        device_ = rank_of(MPI_COMM_WORLD) % devices;
        check(find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context_, device_), "cuDevicePrimaryCtxRetain");
        check(find<int(void*)>("cuCtxSetCurrent")(context_), "cuCtxSetCurrent");
        allocate_ = find<int(void**, std::size_t)>("cuMemAlloc_v2");
        free_ = find<int(void*)>("cuMemFree_v2");
        upload_ = find<int(void*, const void*, std::size_t)>("cuMemcpyHtoD_v2");
        download_ = find<int(void*, const void*, std::size_t)>("cuMemcpyDtoH_v2");
    }
    void use_hip() {
        int devices = 0;
        check(find<int(int*)>("hipGetDeviceCount")(&devices), "hipGetDeviceCount");
        check(find<int(int)>("hipSetDevice")(rank_of(MPI_COMM_WORLD) % devices), "hipSetDevice");
        allocate_ = find<int(void**, std::size_t)>("hipMalloc");
        free_ = find<int(void*)>("hipFree");
        copy_ = find<int(void*, const void*, std::size_t, int)>("hipMemcpy");
    }

    void use_ascend() {
        std::uint32_t devices = 0;
        check(find<int(const char*)>("aclInit")(nullptr), "aclInit");
        check(find<int(std::uint32_t*)>("aclrtGetDeviceCount")(&devices), "aclrtGetDeviceCount");
        device_ = rank_of(MPI_COMM_WORLD) % static_cast<int>(devices);
        check(find<int(int)>("aclrtSetDevice")(device_), "aclrtSetDevice");
        ascend_allocate_ = find<int(void**, std::size_t, int)>("aclrtMalloc");
        free_ = find<int(void*)>("aclrtFree");
        ascend_copy_ = find<int(void*, std::size_t, const void*, std::size_t, int)>("aclrtMemcpy");
    }

    template <typename Function>
    Function* find(const char* name) const {
        void* symbol = dlsym(library_, name);
        require(symbol != nullptr, "the device library has no %s", name);
        return reinterpret_cast<Function*>(symbol);
    }
    static void check(int result, const char* call) { require(result == 0, "%s failed with %d", call, result); }

    const char* hip_;
    const char* ascend_;  // both null: CUDA
    void* library_ = nullptr;
    int device_ = 0;
    void* context_ = nullptr;
    int (*allocate_)(void**, std::size_t) = nullptr;
    int (*free_)(void*) = nullptr;
    int (*upload_)(void*, const void*, std::size_t) = nullptr;
    int (*download_)(void*, const void*, std::size_t) = nullptr;
    int (*copy_)(void*, const void*, std::size_t, int) = nullptr;
    int (*ascend_allocate_)(void**, std::size_t, int) = nullptr;
    int (*ascend_copy_)(void*, std::size_t, const void*, std::size_t, int) = nullptr;
};

}  // namespace test
