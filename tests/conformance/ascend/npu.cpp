// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/ascend/npu.hpp"

namespace peercoll::conformance::ascend {

void need_devices(Scene& scene, std::uint32_t devices) {
    const AclError initialised = lib().aclInit(nullptr);
    if (initialised != code::success && initialised != code::repeat_initialize)
        scene.skip("aclInit answered " + std::to_string(initialised));
    std::uint32_t there = 0;
    const AclError error = lib().aclrtGetDeviceCount(&there);
    if (error != code::success) scene.skip("aclrtGetDeviceCount answered " + std::to_string(error));
    if (there < devices)
        scene.skip("needs " + std::to_string(devices) + " devices, " + std::to_string(there) + " there");
}

void need_peers(Scene& scene) {
    need_devices(scene, 2);
    std::int32_t there = 0;
    std::int32_t back = 0;
    need("aclrtDeviceCanAccessPeer", lib().aclrtDeviceCanAccessPeer(&there, 0, 1));
    need("aclrtDeviceCanAccessPeer", lib().aclrtDeviceCanAccessPeer(&back, 1, 0));
    if (there == 0 || back == 0) scene.skip("needs two devices that are peers");
}

std::string soc() {
    const char* const name = lib().aclrtGetSocName();
    return name == nullptr ? "" : name;
}

Npu::Npu(Scene& scene, std::int32_t ordinal) : ordinal_(ordinal) {
    need_devices(scene, static_cast<std::uint32_t>(ordinal) + 1);
    need("aclrtSetDevice", lib().aclrtSetDevice(ordinal));
    need("aclrtGetCurrentContext", lib().aclrtGetCurrentContext(&context_));
}

Npu::~Npu() {
    lib().aclrtSetCurrentContext(context_);
    lib().aclrtResetDevice(ordinal_);
}

void Memory::store(const std::vector<std::uint64_t>& words, std::size_t offset) const {
    npu_->use();
    const std::size_t bytes = words.size() * sizeof(std::uint64_t);
    need("aclrtMemcpy", lib().aclrtMemcpy(at(offset), bytes, words.data(), bytes, copy_kind::host_to_device));
}

std::vector<std::uint64_t> Memory::load(std::size_t count, std::size_t offset) const {
    npu_->use();
    std::vector<std::uint64_t> words(count);
    const std::size_t bytes = count * sizeof(std::uint64_t);
    need("aclrtMemcpy", lib().aclrtMemcpy(words.data(), bytes, at(offset), bytes, copy_kind::device_to_host));
    return words;
}

}  // namespace peercoll::conformance::ascend
