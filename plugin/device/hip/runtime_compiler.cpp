// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/runtime_compiler.hpp"

#include "collectives/reduction/device/fold_kernel_source.hpp"
#include "plugin/device/hip/hiprtc_library.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

class Program {
public:
    explicit Program(const HiprtcFunctions& hiprtc) : hiprtc_(hiprtc) {}
    ~Program() {
        if (program_ != nullptr) hiprtc_.destroy_program(&program_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    HiprtcResult create(const char* source) {
        return hiprtc_.create_program(&program_, source, "peercoll_fold.hip", 0, nullptr, nullptr);
    }
    HiprtcResult compile(int family, const std::string& target) {
        const std::string target_option = "--gpu-architecture=" + target;
        const std::string family_option = fmt::format("-DPEERCOLL_KERNEL_FAMILY={}", family);
        // No contraction: a fused multiply-add rounds once where the host's kernels round twice.
        std::array options = {target_option.c_str(), family_option.c_str(), "-std=c++17", "-O3", "-ffp-contract=off"};
        return hiprtc_.compile_program(program_, static_cast<int>(options.size()), options.data());
    }
    HiprtcResult image(std::string& image) {
        std::size_t bytes = 0;
        if (const HiprtcResult error = hiprtc_.get_code_size(program_, &bytes); error != hiprtc_success) return error;
        image.resize(bytes);
        return hiprtc_.get_code(program_, image.data());
    }
    // The first line of what the compiler says, if anything.
    std::string log() {
        std::size_t bytes = 0;
        if (hiprtc_.get_log_size(program_, &bytes) != hiprtc_success || bytes < 2) return {};
        std::string text(bytes, '\0');
        if (hiprtc_.get_log(program_, text.data()) != hiprtc_success) return {};
        return text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
    }

private:
    const HiprtcFunctions& hiprtc_;
    HiprtcProgram program_ = nullptr;
};

}  // namespace

Status compile_kernels(int family, const std::string& target, const HipLibrary& hip, Version version,
                       CompiledKernels& compiled) {
    if (target.empty()) return {PEERCOLL_ERR_NOT_SUPPORTED, "its architecture is unknown"};
    HiprtcFunctions hiprtc{};
    if (Status loaded = load_hiprtc(hip, version, hiprtc); !loaded.ok()) return loaded;
    int major = 0;
    int minor = 0;
    hiprtc.version(&major, &minor);
    compiled.compiler = fmt::format("hiprtc {}.{}", major, minor);
    Program program(hiprtc);
    HiprtcResult error = program.create(fold_kernel_source());
    if (error == hiprtc_success) error = program.compile(family, target);
    if (error == hiprtc_success) error = program.image(compiled.image);
    if (error == hiprtc_success) return {};
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("{} cannot compile for {}: {} {}", compiled.compiler, target,
                                                    hiprtc.get_error_string(error), program.log())};
}

}  // namespace peercoll::hip
