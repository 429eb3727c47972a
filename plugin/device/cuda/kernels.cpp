// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/kernels.hpp"

#include "collectives/reduction/device/cuda_kernel_image.hpp"
#include "plugin/device/cuda/attachment.hpp"
#include "plugin/device/cuda/runtime_compiler.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

DeviceKernels::DeviceKernels() {
    forget_all();
}

void DeviceKernels::forget_all() {
    for (Found* const all : {&found_, &found_standing_})
        for (auto& of_datatype : *all)
            for (auto& kernel : of_datatype) kernel.store(nullptr, std::memory_order_relaxed);
}

Status DeviceKernels::find(const Attachment& attachment, const Device& device, peercoll_datatype_t datatype,
                           peercoll_op_t op, CuFunction& kernel) {
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
    if (const CuResult error = attachment.driver.module_get_function(&kernel, family.module, name);
        error != code::success) {
        kernel = nullptr;
        return driver_error(attachment.driver, error, fmt::format("looking for kernel {} in {}", name, family.text));
    }
    found.store(kernel, std::memory_order_release);
    return {};
}

CuFunction DeviceKernels::find_standing(const Attachment& attachment, peercoll_datatype_t datatype, peercoll_op_t op) {
    auto& found = found_standing_[static_cast<std::size_t>(datatype)][static_cast<std::size_t>(op)];
    CuFunction kernel = found.load(std::memory_order_acquire);
    if (kernel != nullptr) return kernel;
    const std::lock_guard lock(mutex_);
    const int family = fold_kernel_family(datatype, op);
    if (family < 0) return nullptr;
    const CuModule module = families_.at(static_cast<std::size_t>(family)).module;
    const std::string name = fmt::format("{}_standby", fold_kernel_name(datatype, op));
    if (module == nullptr || attachment.driver.module_get_function(&kernel, module, name.c_str()) != code::success)
        return nullptr;
    found.store(kernel, std::memory_order_release);
    return kernel;
}

std::string DeviceKernels::describe(const Attachment& attachment, const Device& device) {
    const std::lock_guard lock(mutex_);
    const Family& copies = load(attachment, device, fold_kernel_family(PEERCOLL_BYTE, PEERCOLL_NO_OP));
    return copies.module != nullptr ? "device, " + copies.text : "host: " + copies.absent.sentence();
}

void DeviceKernels::unload(const DriverFunctions& driver) {
    const std::lock_guard lock(mutex_);
    forget_all();
    for (Family& family : families_) {
        if (family.module != nullptr) driver.module_unload(family.module);
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
    const KernelImage* const image = cuda_kernel_image(family);
    if (image == nullptr) {
        refused = "built without nvcc";
        return;
    }
    const CuResult error = attachment.driver.module_load_data(&loaded.module, image->data);
    if (error == code::success) {
        loaded.text = fmt::format("code of nvcc ({})", image->text);
        return;
    }
    loaded.module = nullptr;
    refused = fmt::format("nvcc's code is refused, {}", error_name(attachment.driver, error));
}

void DeviceKernels::load_compiled(const Attachment& attachment, const Device& device, int family, Family& loaded,
                                  const std::string& refused) {
    CompiledKernels compiled;
    const Status status = compile_kernels(family, device.major, device.minor, attachment.version / 1000, compiled);
    if (!status.ok()) {
        loaded.absent = {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{}; {}", refused, status.sentence())};
        return;
    }
    const CuResult error = attachment.driver.module_load_data(&loaded.module, compiled.image.data());
    if (error == code::success) {
        loaded.text = fmt::format("{} code of {}", compiled.architecture, compiled.compiler);
        return;
    }
    loaded.module = nullptr;
    loaded.absent = {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{}; code of {} is refused, {}", refused,
                                                             compiled.compiler, error_name(attachment.driver, error))};
}

}  // namespace peercoll::cuda
