// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/gpu.hpp"

#include <string>

namespace peercoll::conformance::cuda {

void need_devices(Scene& scene, int devices) {
    const CUresult code = driver().cuInit(0);
    if (code != success) scene.skip("cuInit answered " + std::to_string(code));
    int there = 0;
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&there));
    if (there < devices)
        scene.skip("needs " + std::to_string(devices) + " devices, " + std::to_string(there) + " there");
}

Gpu::Gpu(Scene& scene, int ordinal) {
    need_devices(scene, ordinal + 1);
    need("cuDeviceGet", driver().cuDeviceGet(&device_, ordinal));
    need("cuDevicePrimaryCtxRetain", driver().cuDevicePrimaryCtxRetain(&context_, device_));
    need("cuCtxPushCurrent", driver().cuCtxPushCurrent(context_));
}

Gpu::~Gpu() {
    CUcontext popped = nullptr;
    driver().cuCtxPopCurrent(&popped);
    driver().cuDevicePrimaryCtxRelease(device_);
}

int Gpu::attribute(DeviceAttribute attribute) const {
    int value = 0;
    need("cuDeviceGetAttribute", driver().cuDeviceGetAttribute(&value, attribute, device_));
    return value;
}

CUresult Memory::free() {
    if (address_ == 0) return success;
    const CUresult code = driver().cuMemFree(address_);
    address_ = 0;
    return code;
}

void store(CUdeviceptr address, std::span<const std::uint64_t> words) {
    need("cuMemcpyHtoD", driver().cuMemcpyHtoD(address, words.data(), words.size_bytes()));
    need("cuCtxSynchronize", driver().cuCtxSynchronize());
}

std::vector<std::uint64_t> load(CUdeviceptr address, std::size_t count) {
    std::vector<std::uint64_t> words(count);
    need("cuMemcpyDtoH", driver().cuMemcpyDtoH(words.data(), address, count * sizeof(std::uint64_t)));
    return words;
}

std::uint64_t buffer_id(CUdeviceptr address) {
    std::uint64_t id = 0;
    need("cuPointerGetAttribute(BUFFER_ID)", driver().cuPointerGetAttribute(&id, attribute_buffer_id, address));
    return id;
}

std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    need("cuMemGetInfo", driver().cuMemGetInfo(&free, &total));
    return free;
}

}  // namespace peercoll::conformance::cuda
