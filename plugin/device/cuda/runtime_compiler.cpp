// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/runtime_compiler.hpp"

#include "collectives/reduction/device/fold_kernel_source.hpp"
#include "plugin/device/cuda/nvrtc_library.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

class Program {
public:
    explicit Program(const NvrtcFunctions& nvrtc) : nvrtc_(nvrtc) {}
    ~Program() {
        if (program_ != nullptr) nvrtc_.destroy_program(&program_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    NvrtcResult create(const char* source) {
        return nvrtc_.create_program(&program_, source, "peercoll_fold.cu", 0, nullptr, nullptr);
    }
    NvrtcResult compile(int family, const std::string& architecture) {
        const std::string architecture_option = "--gpu-architecture=" + architecture;
        const std::string family_option = fmt::format("-DPEERCOLL_KERNEL_FAMILY={}", family);
        // No contraction: a fused multiply-add rounds once where the host's kernels round twice.
        const std::array options = {architecture_option.c_str(), family_option.c_str(), "--std=c++17", "--fmad=false"};
        return nvrtc_.compile_program(program_, static_cast<int>(options.size()), options.data());
    }
    NvrtcResult image(bool native, std::string& image) {
        std::size_t bytes = 0;
        const auto get_size = native ? nvrtc_.get_cubin_size : nvrtc_.get_ptx_size;
        const auto get = native ? nvrtc_.get_cubin : nvrtc_.get_ptx;
        if (const NvrtcResult error = get_size(program_, &bytes); error != nvrtc_success) return error;
        image.resize(bytes);
        return get(program_, image.data());
    }
    // The first line of what the compiler says, if anything.
    std::string log() {
        std::size_t bytes = 0;
        if (nvrtc_.get_log_size(program_, &bytes) != nvrtc_success || bytes < 2) return {};
        std::string text(bytes, '\0');
        if (nvrtc_.get_log(program_, text.data()) != nvrtc_success) return {};
        return text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
    }

private:
    const NvrtcFunctions& nvrtc_;
    NvrtcProgram program_ = nullptr;
};

Status compile_for(const NvrtcFunctions& nvrtc, int family, bool native, CompiledKernels& compiled) {
    Program program(nvrtc);
    NvrtcResult error = program.create(fold_kernel_source());
    if (error == nvrtc_success) error = program.compile(family, compiled.architecture);
    if (error == nvrtc_success) error = program.image(native, compiled.image);
    if (error == nvrtc_success) return {};
    return {PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("{} cannot compile for {}: {} {}", compiled.compiler, compiled.architecture,
                        nvrtc.get_error_string(error), program.log())};
}

}  // namespace

Status compile_kernels(int family, int major, int minor, int driver_major, CompiledKernels& compiled) {
    NvrtcFunctions nvrtc{};
    if (Status loaded = load_nvrtc(driver_major, nvrtc); !loaded.ok()) return loaded;
    int nvrtc_major = 0;
    int nvrtc_minor = 0;
    nvrtc.version(&nvrtc_major, &nvrtc_minor);
    compiled.compiler = fmt::format("NVRTC {}.{}", nvrtc_major, nvrtc_minor);
    if (nvrtc.get_cubin_size != nullptr && nvrtc.get_cubin != nullptr) {
        compiled.architecture = fmt::format("sm_{}{}", major, minor);
        if (compile_for(nvrtc, family, true, compiled).ok()) return {};
    }
    // An NVRTC older than the device knows the device's predecessors; the driver translates their PTX.
    Status first;
    for (const int known : {10 * major + minor, 100, 90, 80, 75, 70, 60, 50}) {
        if (known > 10 * major + minor) continue;
        compiled.architecture = fmt::format("compute_{}", known);
        Status status = compile_for(nvrtc, family, false, compiled);
        if (status.ok()) return {};
        if (first.ok()) first = std::move(status);
    }
    return first;
}

}  // namespace peercoll::cuda
