// SPDX-License-Identifier: BSD-3-Clause
// The few functions of libcuda.so.1 that the benchmark calls, found when it runs: no CUDA toolkit is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace peercoll::devices {

class CudaDriver {
public:
    using Device = int;
    using Address = unsigned long long;
    using Context = struct CUctx_st*;
    using Stream = struct CUstream_st*;
    using Module = struct CUmod_st*;
    using Function = struct CUfunc_st*;
    struct Uuid {
        std::uint8_t bytes[16];
    };
    struct IpcHandle {
        char bytes[64];
    };

    // Throws std::runtime_error, with a sentence, where there is no usable driver or no device.
    CudaDriver();

    // Throws std::runtime_error that names `what` and the driver's error, unless `result` is success.
    void require(int result, const std::string& what) const;

    int (*init)(unsigned) = nullptr;
    int (*driver_version)(int*) = nullptr;
    int (*error_name)(int, const char**) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_get)(Device*, int) = nullptr;
    int (*device_name)(char*, int, Device) = nullptr;
    int (*device_uuid)(Uuid*, Device) = nullptr;
    int (*device_pci_id)(char*, int, Device) = nullptr;
    int (*primary_retain)(Context*, Device) = nullptr;
    int (*primary_release)(Device) = nullptr;
    int (*context_push)(Context) = nullptr;
    int (*context_pop)(Context*) = nullptr;
    int (*memory_allocate)(Address*, std::size_t) = nullptr;
    int (*memory_free)(Address) = nullptr;
    int (*memory_info)(std::size_t*, std::size_t*) = nullptr;
    int (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
    int (*host_free)(void*) = nullptr;
    int (*copy)(Address, Address, std::size_t, Stream) = nullptr;
    int (*copy_to_device)(Address, const void*, std::size_t, Stream) = nullptr;
    int (*copy_to_host)(void*, Address, std::size_t, Stream) = nullptr;
    int (*set_bytes)(Address, unsigned char, std::size_t, Stream) = nullptr;
    int (*stream_create)(Stream*, unsigned) = nullptr;
    int (*stream_destroy)(Stream) = nullptr;
    int (*stream_synchronize)(Stream) = nullptr;
    int (*module_load)(Module*, const void*) = nullptr;
    int (*module_unload)(Module) = nullptr;
    int (*module_function)(Function*, Module, const char*) = nullptr;
    int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                  void**) = nullptr;
    int (*ipc_get)(IpcHandle*, Address) = nullptr;
    int (*ipc_open)(Address*, IpcHandle, unsigned) = nullptr;
    int (*ipc_close)(Address) = nullptr;
    // Stream-ordered memory, from CUDA 11.2 on; nullptr before.
    int (*pool_allocate)(Address*, std::size_t, Stream) = nullptr;
    int (*pool_free)(Address, Stream) = nullptr;
};

}  // namespace peercoll::devices
