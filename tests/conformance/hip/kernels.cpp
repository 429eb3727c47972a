// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/hip/kernels.hpp"

#include "tests/conformance/hip/kernel_source.hpp"
#include "tests/conformance/hip/release.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace peercoll::conformance::hip {

namespace {

// Up to ROCm 6 libamdhip64 has its functions as well.
void* hiprtc_library() {
    static void* const library = [] {
        if (find_in_hip("hiprtcCreateProgram") != nullptr) return hip_library();
        const std::string name = "libhiprtc.so." + std::to_string(release().major());
        void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) throw SkipReason(std::string("no hiprtc to compile kernels: ") + dlerror());
        return opened;
    }();
    return library;
}
void* find_in_hiprtc(const char* symbol) {
    return dlsym(hiprtc_library(), symbol);
}

using Program = struct ProgramObject*;
template <typename Signature>
using Hiprtc = LibraryFunction<find_in_hiprtc, Signature>;

}  // namespace

// Where "gfx..." is in the two layouts of the properties, by ROCm's headers.
std::string architecture_of(int device) {
    constexpr std::size_t old_place = 396;
    constexpr std::size_t new_place = 1160;
    const bool is_new = static_cast<bool>(lib().hipGetDevicePropertiesR0600);
    std::vector<char> properties(8192, '\0');
    need("the device's properties", is_new ? lib().hipGetDevicePropertiesR0600(properties.data(), device)
                                           : lib().hipGetDeviceProperties(properties.data(), device));
    const char* const name = properties.data() + (is_new ? new_place : old_place);
    return {name, strnlen(name, 256)};
}

const std::string& compiled_kernels() {
    static const std::string image = [] {
        const Hiprtc<int(Program*, const char*, const char*, int, const char**, const char**)> create(
            "hiprtcCreateProgram");
        const Hiprtc<int(Program, int, const char**)> compile("hiprtcCompileProgram");
        const Hiprtc<int(Program, std::size_t*)> size("hiprtcGetCodeSize");
        const Hiprtc<int(Program, char*)> code("hiprtcGetCode");
        const Hiprtc<int(Program*)> destroy("hiprtcDestroyProgram");
        int device = 0;
        need("hipGetDevice", lib().hipGetDevice(&device));
        const std::string target = "--gpu-architecture=" + architecture_of(device);
        std::array options = {target.c_str(), "-O2"};
        Program program = nullptr;
        need("hiprtcCreateProgram", create(&program, kernel_source, "conformance.hip", 0, nullptr, nullptr));
        need("hiprtcCompileProgram", compile(program, static_cast<int>(options.size()), options.data()));
        std::size_t bytes = 0;
        need("hiprtcGetCodeSize", size(program, &bytes));
        std::string made(bytes, '\0');
        need("hiprtcGetCode", code(program, made.data()));
        need("hiprtcDestroyProgram", destroy(&program));
        return made;
    }();
    return image;
}

Kernels::Kernels() {
    need("hipModuleLoadData", lib().hipModuleLoadData(&module_, compiled_kernels().data()));
    store_ = find("peercoll_conformance_store");
    copy_ = find("peercoll_conformance_copy");
    wait_ = find("peercoll_conformance_wait");
}

Kernels::~Kernels() {
    lib().hipModuleUnload(module_);
}

HipFunction Kernels::find(const char* name) const {
    HipFunction function = nullptr;
    need("hipModuleGetFunction", lib().hipModuleGetFunction(&function, module_, name));
    return function;
}

HipError Kernels::launch(HipFunction function, const Stream& stream, void* parameters) {
    return lib().hipModuleLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream.get(), &parameters, nullptr);
}

}  // namespace peercoll::conformance::hip
