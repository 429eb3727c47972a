// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/hip_api.hpp"

#include <dlfcn.h>

#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace peercoll::hip {

void HipLibrary::Close::operator()(void* handle) const {
    ::dlclose(handle);
}

std::unique_ptr<HipLibrary> HipLibrary::find_loaded() {
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); handle != nullptr)
            return std::make_unique<HipLibrary>(HipLibrary(handle));
    return nullptr;
}

Status HipLibrary::bind(HipFunctions& functions) const {
    std::string absent;
    for_each_hip_function(functions, [&](auto& member, const char* name, bool required) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol(name));
        if (member == nullptr && required) absent += absent.empty() ? name : std::string(", ") + name;
    });
    if (absent.empty()) return {};
    return {PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("this libamdhip64 lacks {}; that of ROCm 5 or newer is expected", absent)};
}

void* HipLibrary::symbol(const char* name) const {
    return ::dlsym(handle_.get(), name);
}

std::string HipLibrary::folder() const {
    Dl_info info{};
    if (::dladdr(symbol("hipInit"), &info) == 0 || info.dli_fname == nullptr) return {};
    const std::string_view file = info.dli_fname;
    const std::size_t slash = file.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(file.substr(0, slash));
}

}  // namespace peercoll::hip
