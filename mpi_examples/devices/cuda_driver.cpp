// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace peercoll::devices {

namespace {

class Symbols {
public:
    Symbols() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {
        if (library_ == nullptr) {
            throw std::runtime_error(fmt::format("NVIDIA's driver library cannot be loaded: {}", dlerror()));
        }
    }

    // The library stays loaded: others in the process use it too.
    template <typename Function>
    void optional(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(dlsym(library_, name));
    }
    template <typename Function>
    void required(Function*& function, const char* name) const {
        optional(function, name);
        if (function == nullptr) {
            throw std::runtime_error(fmt::format("libcuda.so.1 has no {}: CUDA 11.4 or newer is needed", name));
        }
    }

private:
    void* library_;
};

}  // namespace

CudaDriver::CudaDriver() {
    const Symbols symbols;
    symbols.required(init, "cuInit");
    symbols.required(error_name, "cuGetErrorName");
    // First of all: with no device or a stub library the others may be missing too.
    require(init(0), "cuInit");
    symbols.required(driver_version, "cuDriverGetVersion");
    symbols.required(device_count, "cuDeviceGetCount");
    symbols.required(device_get, "cuDeviceGet");
    symbols.required(device_name, "cuDeviceGetName");
    symbols.required(device_uuid, "cuDeviceGetUuid_v2");
    symbols.required(device_pci_id, "cuDeviceGetPCIBusId");
    symbols.required(primary_retain, "cuDevicePrimaryCtxRetain");
    symbols.required(primary_release, "cuDevicePrimaryCtxRelease_v2");
    symbols.required(context_push, "cuCtxPushCurrent_v2");
    symbols.required(context_pop, "cuCtxPopCurrent_v2");
    symbols.required(memory_allocate, "cuMemAlloc_v2");
    symbols.required(memory_free, "cuMemFree_v2");
    symbols.required(memory_info, "cuMemGetInfo_v2");
    symbols.required(host_allocate, "cuMemHostAlloc");
    symbols.required(host_free, "cuMemFreeHost");
    symbols.required(copy, "cuMemcpyAsync");
    symbols.required(copy_to_device, "cuMemcpyHtoDAsync_v2");
    symbols.required(copy_to_host, "cuMemcpyDtoHAsync_v2");
    symbols.required(set_bytes, "cuMemsetD8Async");
    symbols.required(stream_create, "cuStreamCreate");
    symbols.required(stream_destroy, "cuStreamDestroy_v2");
    symbols.required(stream_synchronize, "cuStreamSynchronize");
    symbols.required(module_load, "cuModuleLoadData");
    symbols.required(module_unload, "cuModuleUnload");
    symbols.required(module_function, "cuModuleGetFunction");
    symbols.required(launch, "cuLaunchKernel");
    symbols.required(ipc_get, "cuIpcGetMemHandle");
    symbols.required(ipc_open, "cuIpcOpenMemHandle_v2");
    symbols.required(ipc_close, "cuIpcCloseMemHandle");
    symbols.optional(pool_allocate, "cuMemAllocAsync");
    symbols.optional(pool_free, "cuMemFreeAsync");
}

void CudaDriver::require(int result, const std::string& what) const {
    if (result == 0) return;
    const char* name = nullptr;
    if (error_name(result, &name) != 0 || name == nullptr) name = "unknown error";
    throw std::runtime_error(fmt::format("{}: {} ({})", what, name, result));
}

}  // namespace peercoll::devices
