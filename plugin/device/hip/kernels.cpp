// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/kernels.hpp"

#include "collectives/reduction/device/hip_kernel_image.hpp"
#include "plugin/device/hip/attachment.hpp"
#include "plugin/device/hip/runtime_compiler.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

DeviceKernels::DeviceKernels() {
    for (auto& of_datatype : found_)
        for (auto& kernel : of_datatype) kernel.store(nullptr, std::memory_order_relaxed);
}

Status DeviceKernels::find(const Attachment& attachment, const Device& device, peercoll_datatype_t datatype,
                           peercoll_op_t op, HipFunction& kernel) {
    kernel = nullptr;
    const char* const name = fold_kernel_name(datatype, op);
    if (name == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("there is no device kernel for datatype {} and operation {}", datatype, op)};
    auto& found = found_[static_cast<std::size_t>(datatype)][static_cast<std::size_t>(op)];
    kernel = found.load(std::memory_order_acquire);
    if (kernel != nullptr) return {};
    const std::lock_guard lock(mutex_);
    const Family& family = load(attachment, device, fold_kernel_family(datatype, op));
    if (family.module == nullptr) return family.absent;
    if (const HipError error = attachment.hip.module_get_function(&kernel, family.module, name);
        error != code::success) {
        kernel = nullptr;
        return hip_error(attachment.hip, error, fmt::format("looking for kernel {} in {}", name, family.text));
    }
    found.store(kernel, std::memory_order_release);
    return {};
}

std::string DeviceKernels::describe(const Attachment& attachment, const Device& device) {
    const std::lock_guard lock(mutex_);
    const Family& copies = load(attachment, device, fold_kernel_family(PEERCOLL_BYTE, PEERCOLL_NO_OP));
    return copies.module != nullptr ? "device, " + copies.text : "host: " + copies.absent.sentence();
}

void DeviceKernels::unload(const HipFunctions& hip) {
    const std::lock_guard lock(mutex_);
    for (auto& of_datatype : found_)
        for (auto& kernel : of_datatype) kernel.store(nullptr, std::memory_order_relaxed);
    for (Family& family : families_) {
        if (family.module != nullptr) (void)hip.module_unload(family.module);
        family = {};
    }
}

const DeviceKernels::Family& DeviceKernels::load(const Attachment& attachment, const Device& device, int family) {
    Family& loaded = families_.at(static_cast<std::size_t>(family));
    if (loaded.tried) return loaded;
    loaded.tried = true;
    std::string refused;
    load_image(attachment, family, loaded, refused);
    if (loaded.module == nullptr) load_compiled(attachment, device, family, loaded, refused);
    return loaded;
}

void DeviceKernels::load_image(const Attachment& attachment, int family, Family& loaded, std::string& refused) {
    const KernelImage* const image = hip_kernel_image(family);
    if (image == nullptr) {
        refused = "built without hipcc";
        return;
    }
    const HipError error = attachment.hip.module_load_data(&loaded.module, image->data);
    if (error == code::success) {
        loaded.text = fmt::format("code of hipcc ({})", image->text);
        return;
    }
    loaded.module = nullptr;
    refused = fmt::format("hipcc's code is refused, {}", error_name(attachment.hip, error));
}

void DeviceKernels::load_compiled(const Attachment& attachment, const Device& device, int family, Family& loaded,
                                  const std::string& refused) {
    CompiledKernels compiled;
    const Status status = compile_kernels(family, device.target, *attachment.library, attachment.version, compiled);
    if (!status.ok()) {
        loaded.absent = {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{}; {}", refused, status.sentence())};
        return;
    }
    const HipError error = attachment.hip.module_load_data(&loaded.module, compiled.image.data());
    if (error == code::success) {
        loaded.text = fmt::format("{} code of {}", device.info.architecture, compiled.compiler);
        return;
    }
    loaded.module = nullptr;
    loaded.absent = {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{}; code of {} is refused, {}", refused,
                                                             compiled.compiler, error_name(attachment.hip, error))};
}

}  // namespace peercoll::hip
