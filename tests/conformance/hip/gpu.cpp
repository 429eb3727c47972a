// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/hip/gpu.hpp"

namespace peercoll::conformance::hip {

void need_devices(Scene& scene, int devices) {
    int there = 0;
    const HipError error = lib().hipGetDeviceCount(&there);
    if (error == code::no_device || there == 0) scene.skip("hipGetDeviceCount answered " + std::to_string(error));
    need("hipGetDeviceCount", error);
    if (there < devices)
        scene.skip("needs " + std::to_string(devices) + " devices, " + std::to_string(there) + " there");
    need("hipSetDevice", lib().hipSetDevice(0));
}

void need_peers(Scene& scene) {
    need_devices(scene, 2);
    int there = 0;
    int back = 0;
    need("hipDeviceCanAccessPeer", lib().hipDeviceCanAccessPeer(&there, 0, 1));
    need("hipDeviceCanAccessPeer", lib().hipDeviceCanAccessPeer(&back, 1, 0));
    if (there == 0 || back == 0) scene.skip("needs two devices that are peers");
}

bool becomes_idle(HipStream stream, int limit_ms) {
    return becomes(
        [stream] {
            const HipError error = lib().hipStreamQuery(stream);
            if (error != code::success && error != code::not_ready) need("hipStreamQuery", error);
            return error == code::success;
        },
        limit_ms);
}

void store(void* address, std::span<const std::uint64_t> words) {
    need("hipMemcpy", lib().hipMemcpy(address, words.data(), words.size_bytes(), copy_host_to_device));
    need("hipDeviceSynchronize", lib().hipDeviceSynchronize());
}

std::vector<std::uint64_t> load(const void* address, std::size_t count) {
    std::vector<std::uint64_t> words(count);
    need("hipMemcpy", lib().hipMemcpy(words.data(), address, count * sizeof(std::uint64_t), copy_device_to_host));
    return words;
}

HipPointerAttributes attributes_of(const void* address) {
    HipPointerAttributes attributes{};
    need("hipPointerGetAttributes", lib().hipPointerGetAttributes(&attributes, address));
    return attributes;
}

std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    need("hipMemGetInfo", lib().hipMemGetInfo(&free, &total));
    return free;
}

}  // namespace peercoll::conformance::hip
