// SPDX-License-Identifier: BSD-3-Clause
// The first versions of functions that have had a newer one for long, under their plain names. A real driver still has
// them, with other types or switched off: who finds one has asked dlsym() for the wrong name. Here they tell so.
#include "tests/simulated_devices/core/leaks.hpp"
#include "tests/simulated_devices/cuda/types.hpp"

#include <string>

namespace peercoll::simulator::cuda {

namespace {

CUresult retired(const char* name) {
    report_line(std::string(name) + " was called, the first version of this function; expected " + name + "_v2");
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult cuDeviceTotalMem() {
    return retired("cuDeviceTotalMem");
}
CUresult cuMemAlloc() {
    return retired("cuMemAlloc");
}
CUresult cuMemFree() {
    return retired("cuMemFree");
}
CUresult cuMemGetInfo() {
    return retired("cuMemGetInfo");
}
CUresult cuMemGetAddressRange() {
    return retired("cuMemGetAddressRange");
}
CUresult cuMemAllocHost() {
    return retired("cuMemAllocHost");
}
CUresult cuMemcpyHtoD() {
    return retired("cuMemcpyHtoD");
}
CUresult cuMemcpyDtoH() {
    return retired("cuMemcpyDtoH");
}
CUresult cuMemcpyDtoD() {
    return retired("cuMemcpyDtoD");
}
CUresult cuMemcpyHtoDAsync() {
    return retired("cuMemcpyHtoDAsync");
}
CUresult cuMemcpyDtoHAsync() {
    return retired("cuMemcpyDtoHAsync");
}
CUresult cuMemcpyDtoDAsync() {
    return retired("cuMemcpyDtoDAsync");
}
CUresult cuMemsetD8() {
    return retired("cuMemsetD8");
}
CUresult cuMemsetD32() {
    return retired("cuMemsetD32");
}
CUresult cuMemHostRegister() {
    return retired("cuMemHostRegister");
}
CUresult cuMemHostGetDevicePointer() {
    return retired("cuMemHostGetDevicePointer");
}
CUresult cuCtxPushCurrent() {
    return retired("cuCtxPushCurrent");
}
CUresult cuCtxPopCurrent() {
    return retired("cuCtxPopCurrent");
}
CUresult cuDevicePrimaryCtxRelease() {
    return retired("cuDevicePrimaryCtxRelease");
}
CUresult cuDevicePrimaryCtxReset() {
    return retired("cuDevicePrimaryCtxReset");
}
CUresult cuDevicePrimaryCtxSetFlags() {
    return retired("cuDevicePrimaryCtxSetFlags");
}
CUresult cuDeviceGetUuid() {
    return retired("cuDeviceGetUuid");
}
CUresult cuStreamDestroy() {
    return retired("cuStreamDestroy");
}
CUresult cuEventDestroy() {
    return retired("cuEventDestroy");
}
CUresult cuIpcOpenMemHandle() {
    return retired("cuIpcOpenMemHandle");
}
CUresult cuStreamWriteValue32() {
    return retired("cuStreamWriteValue32");
}
CUresult cuStreamWriteValue64() {
    return retired("cuStreamWriteValue64");
}
CUresult cuStreamWaitValue32() {
    return retired("cuStreamWaitValue32");
}
CUresult cuStreamWaitValue64() {
    return retired("cuStreamWaitValue64");
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
