// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/hiprtc_library.hpp"

#include <dlfcn.h>

#include <type_traits>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

template <typename Find>
bool bind(HiprtcFunctions& functions, Find find) {
    bool complete = true;
    for_each_hiprtc_function(functions, [&](auto& member, const char* name) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(find(name));
        complete = complete && member != nullptr;
    });
    return complete;
}

}  // namespace

std::vector<std::string> hiprtc_libraries(Version version, const std::string& folder) {
    const std::string name = fmt::format("libhiprtc.so.{}", version.major());
    std::vector<std::string> names = {name};
    if (!folder.empty()) names.push_back(fmt::format("{}/{}", folder, name));
    return names;
}

Status load_hiprtc(const HipLibrary& hip, Version version, HiprtcFunctions& functions) {
    if (bind(functions, [&](const char* name) { return hip.symbol(name); })) return {};
    const std::vector<std::string> libraries = hiprtc_libraries(version, hip.folder());
    for (const std::string& path : libraries) {
        void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) continue;
        const bool complete = bind(functions, [&](const char* name) { return ::dlsym(library, name); });
        ::dlclose(library);
        if (complete) return {};
    }
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("there is no hiprtc ({})", libraries.front())};
}

}  // namespace peercoll::hip
