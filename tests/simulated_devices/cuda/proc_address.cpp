// SPDX-License-Identifier: BSD-3-Clause
// cuGetProcAddress: the entry point that a function's plain name meant in a given version of CUDA.
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/state.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace peercoll::simulator::cuda {

namespace {

struct Since {
    std::string_view symbol;
    int version;
};

// Those that are younger than the oldest version anybody asks for.
constexpr std::array since = {
    Since{"cuPointerSetAttribute", 6000},
    Since{"cuMemAllocManaged", 6000},
    Since{"cuPointerGetAttributes", 7000},
    Since{"cuDevicePrimaryCtxRetain", 7000},
    Since{"cuDevicePrimaryCtxGetState", 7000},
    Since{"cuDeviceGetP2PAttribute", 8000},
    Since{"cuStreamGetCtx", 9020},
    Since{"cuLaunchHostFunc", 10000},
    Since{"cuStreamIsCapturing", 10000},
    Since{"cuThreadExchangeStreamCaptureMode", 10010},
    Since{"cuMemCreate", 10020},
    Since{"cuMemRelease", 10020},
    Since{"cuMemMap", 10020},
    Since{"cuMemUnmap", 10020},
    Since{"cuMemSetAccess", 10020},
    Since{"cuMemAddressReserve", 10020},
    Since{"cuMemAddressFree", 10020},
    Since{"cuMemGetAllocationGranularity", 10020},
    Since{"cuMemGetAllocationPropertiesFromHandle", 10020},
    Since{"cuMemExportToShareableHandle", 10020},
    Since{"cuMemImportFromShareableHandle", 10020},
    Since{"cuIpcOpenMemHandle_v2", 11000},
    Since{"cuDevicePrimaryCtxRelease_v2", 11000},
    Since{"cuDevicePrimaryCtxReset_v2", 11000},
    Since{"cuDevicePrimaryCtxSetFlags_v2", 11000},
    Since{"cuMemRetainAllocationHandle", 11000},
    Since{"cuMemAllocAsync", 11020},
    Since{"cuMemFreeAsync", 11020},
    Since{"cuMemAllocFromPoolAsync", 11020},
    Since{"cuDeviceGetDefaultMemPool", 11020},
    Since{"cuDeviceGetMemPool", 11020},
    Since{"cuDeviceSetMemPool", 11020},
    Since{"cuMemPoolCreate", 11020},
    Since{"cuMemPoolDestroy", 11020},
    Since{"cuMemPoolSetAccess", 11020},
    Since{"cuMemPoolSetAttribute", 11020},
    Since{"cuMemPoolGetAttribute", 11020},
    Since{"cuMemPoolTrimTo", 11020},
    Since{"cuMemPoolExportToShareableHandle", 11030},
    Since{"cuMemPoolImportFromShareableHandle", 11030},
    Since{"cuMemPoolExportPointer", 11030},
    Since{"cuMemPoolImportPointer", 11030},
    Since{"cuGetProcAddress", 11030},
    Since{"cuDeviceGetUuid_v2", 11040},
    Since{"cuStreamWriteValue32_v2", 11070},
    Since{"cuStreamWriteValue64_v2", 11070},
    Since{"cuStreamWaitValue32_v2", 11070},
    Since{"cuStreamWaitValue64_v2", 11070},
    Since{"cuGetProcAddress_v2", 12000},
    Since{"cuCtxSetFlags", 12010},
    Since{"cuEventElapsedTime_v2", 12080},
};

int since_version(std::string_view symbol) {
    const auto* const found =
        std::find_if(since.begin(), since.end(), [symbol](const Since& entry) { return entry.symbol == symbol; });
    return found == since.end() ? 4000 : found->version;
}

void* symbol_of_this_library(const std::string& name) {
    static void* const library = [] {
        Dl_info info = {};
        ::dladdr(reinterpret_cast<const void*>(&gate), &info);
        return ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    return library == nullptr ? nullptr : ::dlsym(library, name.c_str());
}

constexpr int found_it = 0;
constexpr int no_such_symbol = 1;
constexpr int version_too_old = 2;

int look_up(const std::string& name, int version, void** function) {
    bool exists = false;
    // The newest first; nobody asks for a version by its suffix.
    for (const std::string& symbol : {name + "_v2", name}) {
        void* const entry = symbol_of_this_library(symbol);
        const int first = since_version(symbol);
        if (entry != nullptr && first <= reported_driver_version()) {
            exists = true;
            if (first <= version) {
                *function = entry;
                return found_it;
            }
        }
    }
    return exists ? version_too_old : no_such_symbol;
}

CUresult get_proc_address(const char* name, void** function, int version, std::uint64_t flags, int& status) {
    if (variant() == Variant::Stub) {
        return CUDA_ERROR_STUB_LIBRARY;
    }
    std::string error;
    if (name == nullptr || function == nullptr || flags > 2 || !start_process(error)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *function = nullptr;
    status = look_up(name, version, function);
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

// Neither needs cuInit. For a name that is not there the first says so by its result, the second by `status` alone:
// that one succeeds, and whoever looks at its result only calls a null pointer.
CUresult cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
    int status = no_such_symbol;
    const CUresult result = get_proc_address(name, function, version, flags, status);
    return result == CUDA_SUCCESS && status != found_it ? CUDA_ERROR_NOT_FOUND : result;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status) {
    int told = no_such_symbol;
    return get_proc_address(name, function, version, flags, status != nullptr ? *status : told);
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
