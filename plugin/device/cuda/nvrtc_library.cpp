// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/nvrtc_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

// By age of the names: 11.2 is that of all releases from 11.2 on.
std::vector<std::string> library_names(int driver_major) {
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    const auto own = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return name.find(fmt::format(".so.{}", driver_major)) != std::string::npos;
    });
    // The driver's own first, then older ones, then newer ones.
    if (own != names.end()) std::rotate(names.begin(), own, names.end());
    return names;
}

void add_folder(std::vector<std::string>& folders, std::string folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
}

bool bind(void* library, NvrtcFunctions& functions) {
    const auto find = [&](auto& member, const char* symbol) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library, symbol));
        return member != nullptr;
    };
    find(functions.get_cubin_size, "nvrtcGetCUBINSize");
    find(functions.get_cubin, "nvrtcGetCUBIN");
    return find(functions.version, "nvrtcVersion") && find(functions.get_error_string, "nvrtcGetErrorString") &&
           find(functions.create_program, "nvrtcCreateProgram") &&
           find(functions.compile_program, "nvrtcCompileProgram") &&
           find(functions.get_log_size, "nvrtcGetProgramLogSize") && find(functions.get_log, "nvrtcGetProgramLog") &&
           find(functions.get_ptx_size, "nvrtcGetPTXSize") && find(functions.get_ptx, "nvrtcGetPTX") &&
           find(functions.destroy_program, "nvrtcDestroyProgram");
}

std::string read_maps() {
    std::ifstream maps("/proc/self/maps");
    return {std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<std::string> nvrtc_folders(const std::string& maps,
                                       const std::function<const char*(const char*)>& variable) {
    std::vector<std::string> folders;
    std::istringstream lines(maps);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find('/');
        const std::size_t slash = line.rfind('/');
        if (begin == std::string::npos) continue;
        const std::string_view file = std::string_view(line).substr(slash + 1);
        if (!file.starts_with("libcu") && !file.starts_with("libnv")) continue;
        const std::string folder = line.substr(begin, slash - begin);
        add_folder(folders, folder);
        add_folder(folders, folder + "/../../cuda_nvrtc/lib");  // where Python's wheels have it
    }
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* prefix = variable(name); prefix != nullptr && *prefix != '\0')
            add_folder(folders, std::string(prefix) + "/lib64");
    for (const char* prefix : {"/usr/local/cuda", "/opt/cuda"}) add_folder(folders, std::string(prefix) + "/lib64");
    return folders;
}

Status load_nvrtc(int driver_major, NvrtcFunctions& functions) {
    const std::vector<std::string> names = library_names(driver_major);
    std::vector<std::string> paths = names;
    for (const std::string& folder : nvrtc_folders(read_maps(), [](const char* name) { return std::getenv(name); }))
        for (const std::string& name : names) paths.push_back(fmt::format("{}/{}", folder, name));
    constexpr int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    for (const int also : {RTLD_NOLOAD, 0})  // one that the process has loaded already is the first choice
        for (const std::string& path : paths) {
            void* const library = ::dlopen(path.c_str(), flags | also);
            if (library == nullptr) continue;
            const bool complete = bind(library, functions);
            ::dlclose(library);
            if (complete) return {};
        }
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("there is no NVRTC ({})", fmt::join(names, ", "))};
}

}  // namespace peercoll::cuda
