// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/driver_api.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include <fmt/format.h>

namespace peercoll::cuda {

void DriverLibrary::Close::operator()(void* handle) const {
    ::dlclose(handle);
}

std::unique_ptr<DriverLibrary> DriverLibrary::find_loaded() {
    for (const char* name : {"libcuda.so.1", "libcuda.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); handle != nullptr)
            return std::make_unique<DriverLibrary>(DriverLibrary(handle));
    return nullptr;
}

Status DriverLibrary::bind(DriverFunctions& functions) const {
    std::string absent;
    for_each_driver_function(functions, [&](auto& member, const char* name, bool required) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol(name));
        if (member == nullptr && required) absent += absent.empty() ? name : std::string(", ") + name;
    });
    if (absent.empty()) return {};
    return {PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("the CUDA driver lacks {}; a driver of CUDA 11.4 or newer is expected", absent)};
}

void* DriverLibrary::symbol(const char* name) const {
    return ::dlsym(handle_.get(), name);
}

bool DriverFunctions::has_virtual_memory() const {
    return allocation_retain && allocation_release && allocation_get_properties && allocation_get_granularity &&
           allocation_export && allocation_import && address_reserve && address_free && memory_map && memory_unmap &&
           memory_set_access;
}

bool DriverFunctions::has_pools() const {
    return pool_export && pool_import && pool_export_pointer && pool_import_pointer && pool_set_access && pool_destroy;
}

}  // namespace peercoll::cuda
